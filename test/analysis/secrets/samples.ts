import { readFileSync } from 'node:fs';

export interface Sample {
  /** Its place among the cases of its file, from 0. */
  row: number;
  /** The rule or detector whose test it is from. */
  source: string;
  isSecret: boolean;
  text: string;
  /** What must be gone; the whole text where the sample does not say. */
  secret: string;
  isFlaggedByOthers: boolean;
}

interface Case {
  rule?: string;
  detector?: string;
  expect: 'secret' | 'not_secret';
  parts: string[];
  secret_start?: number;
  secret_length?: number;
  flagged_by_other_rules?: string[];
}

/** The samples of one file of `test/vectors/secrets`, their parts joined. */
export function readSamples(name: string): Sample[] {
  const path = new URL(`../../vectors/secrets/${name}`, import.meta.url);
  const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: Case[] };
  return cases.map((one, row) => {
    const text = one.parts.join('');
    const { secret_start: start = 0, secret_length: length = text.length } = one;
    return {
      row,
      source: one.rule ?? one.detector ?? '',
      isSecret: one.expect === 'secret',
      text,
      secret: text.slice(start, start + length),
      isFlaggedByOthers: one.flagged_by_other_rules !== undefined,
    };
  });
}
