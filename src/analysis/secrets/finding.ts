/** A part of a text that is taken for a secret, in UTF-16 code units. */
export interface Finding {
  start: number;
  end: number;
  /** Whether it is a private key, or what begins like one. */
  isPrivateKey?: true;
}

/** That no secret is found at any of a detector's words that begin before a place. */
export interface Miss {
  missedUntil: number;
}

/** Looks for a secret about one place of one of its words. */
export interface Detector {
  /** Lower-case ASCII; their places may be in any case. */
  keywords: readonly string[];
  /** How far from a word without a secret another one is not looked at: the same stretch would be. */
  stride?: number;
  /**
   * What is secret about the word at `start`, or undefined. Looks no further from it than a constant, beside the length
   * of what it finds or of what it need not be asked about again, so that a text costs time linear in its length.
   */
  find(text: string, start: number, end: number): Finding | readonly Finding[] | Miss | undefined;
}
