import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createMasker } from '../../../src/analysis/secrets/masker.ts';
import { readSamples, type Sample } from './samples.ts';

interface Disagreement {
  file: string;
  /** The sample's place among the cases of the file, from 0. */
  row: number;
  source: string;
  reason: string;
}

const { maskText } = createMasker('a key');
const DISAGREEMENTS = JSON.parse(
  readFileSync(new URL('../../vectors/secrets/disagreements.json', import.meta.url), 'utf8'),
) as Record<'secrets_left' | 'non_secrets_masked', Disagreement[]>;

const isLeft = (sample: Sample) => maskText(sample.text).includes(sample.secret);
const isTouched = (sample: Sample) => maskText(sample.text) !== sample.text;
const percent = (part: number, whole: number) => (100 * part) / whole;

const FILES = ['gitleaks-samples.json', 'detect-secrets-cases.json'].map((file) => {
  const samples = readSamples(file);
  const secrets = samples.filter(({ isSecret }) => isSecret);
  const others = samples.filter(({ isSecret, isFlaggedByOthers }) => !isSecret && !isFlaggedByOthers);
  return { file, secrets, others, left: secrets.filter(isLeft), touched: others.filter(isTouched) };
});

const rowsOf = (samples: readonly Sample[]) => samples.map(({ row, source }) => ({ row, source }));
const listedFor = (list: readonly Disagreement[], name: string) =>
  list.filter(({ file }) => file === name).map(({ row, source }) => ({ row, source }));

describe.each(FILES)('of the samples of $file', ({ file, secrets, left, others, touched }) => {
  test('at least 95 % of the secrets are gone', () => {
    const gone = percent(secrets.length - left.length, secrets.length);
    console.log(
      `${file}: ${secrets.length - left.length} of ${secrets.length} secrets gone, ${gone.toFixed(1)} %`,
    );
    expect(secrets.length).toBeGreaterThan(200);
    expect(gone).toBeGreaterThanOrEqual(95);
  });

  test('the secrets that are left are those that are listed, row by row', () => {
    expect(rowsOf(left)).toEqual(listedFor(DISAGREEMENTS.secrets_left, file));
  });

  test('the non-secrets that are touched are those that are listed, row by row', () => {
    const share = percent(touched.length, others.length);
    console.log(`${file}: ${touched.length} of ${others.length} non-secrets touched, ${share.toFixed(1)} %`);
    expect(others.length).toBeGreaterThan(200);
    expect(rowsOf(touched)).toEqual(listedFor(DISAGREEMENTS.non_secrets_masked, file));
  });
});

test('every listed disagreement has its reason', () => {
  for (const { reason } of Object.values(DISAGREEMENTS).flatMap((list) =>
    Array.isArray(list) ? list : [],
  )) {
    expect(reason).toMatch(/\w+ \w+/);
  }
});
