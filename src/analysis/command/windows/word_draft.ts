import type { Piece, Word } from '../analysis.ts';

/** A word while it is read. */
export interface WordDraft {
  pieces: Piece[];
  /** Whether it holds anything, be it only empty quotes. */
  begun: boolean;
}

export function beginWord(): WordDraft {
  return { pieces: [], begun: false };
}

/** Adds text that stands for itself; text next to text of the same quoting becomes one piece. */
export function addLiteral(draft: WordDraft, text: string, quoted: boolean): void {
  draft.begun = true;
  const last = draft.pieces.at(-1);
  if (last?.kind === 'literal' && last.quoted === quoted) {
    last.text += text;
  } else if (text !== '') {
    draft.pieces.push({ kind: 'literal', text, quoted });
  }
}

export function addPiece(draft: WordDraft, piece: Piece): void {
  draft.begun = true;
  draft.pieces.push(piece);
}

/** The word, given how it was written. Its value is known only when every piece stands for itself. */
export function finishWord({ pieces }: WordDraft, text: string): Word {
  return { text, value: readValue(pieces), pieces };
}

function readValue(pieces: readonly Piece[]): string | null {
  let value = '';
  for (const piece of pieces) {
    if (piece.kind !== 'literal') return null;
    value += piece.text;
  }
  return value;
}
