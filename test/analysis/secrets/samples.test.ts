import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createMasker } from '../../../src/analysis/secrets/masker.ts';
import { readSamples, type Sample } from './samples.ts';

const { maskText } = createMasker('a key');
const DISAGREEMENTS = JSON.parse(
  readFileSync(new URL('../../vectors/secrets/disagreements.json', import.meta.url), 'utf8'),
) as Record<'secrets_left' | 'non_secrets_masked', Record<string, string>>;

const isLeft = (sample: Sample) => maskText(sample.text).includes(sample.secret);
const isTouched = (sample: Sample) => maskText(sample.text) !== sample.text;
const isListed = (list: Record<string, string>, { source, text }: Sample) => source in list || text in list;
const percent = (part: number, whole: number) => (100 * part) / whole;

const FILES = ['gitleaks-samples.json', 'detect-secrets-cases.json'].map((name) => {
  const samples = readSamples(name);
  const secrets = samples.filter(({ isSecret }) => isSecret);
  const others = samples.filter(({ isSecret, isFlaggedByOthers }) => !isSecret && !isFlaggedByOthers);
  return { name, secrets, others, left: secrets.filter(isLeft), touched: others.filter(isTouched) };
});

describe.each(FILES)('of the samples of $name', ({ name, secrets, left, others, touched }) => {
  test('at least 95 % of the secrets are gone', () => {
    const gone = percent(secrets.length - left.length, secrets.length);
    console.log(
      `${name}: ${secrets.length - left.length} of ${secrets.length} secrets gone, ${gone.toFixed(1)} %`,
    );
    expect(secrets.length).toBeGreaterThan(200);
    expect(gone).toBeGreaterThanOrEqual(95);
  });

  test('at most 10 % of the non-secrets are touched but those that are secrets to another eye', () => {
    const unexplained = touched.filter((sample) => !isListed(DISAGREEMENTS.non_secrets_masked, sample));
    const share = percent(unexplained.length, others.length);
    const all = percent(touched.length, others.length);
    console.log(
      `${name}: ${touched.length} of ${others.length} non-secrets touched, ${all.toFixed(1)} %; ${unexplained.length} of them without a listed reason, ${share.toFixed(1)} %`,
    );
    expect(others.length).toBeGreaterThan(200);
    expect(share).toBeLessThanOrEqual(10);
    expect(all).toBeLessThanOrEqual(19);
  });

  test('every secret that is left is listed with its reason', () => {
    const unlisted = left.filter((sample) => !isListed(DISAGREEMENTS.secrets_left, sample));
    expect(unlisted.map(({ source }) => source)).toEqual([]);
  });
});

test('every listed disagreement is one', () => {
  const differing = {
    secrets_left: FILES.flatMap(({ left }) => left),
    non_secrets_masked: FILES.flatMap(({ touched }) => touched),
  };
  for (const kind of ['secrets_left', 'non_secrets_masked'] as const) {
    for (const name of Object.keys(DISAGREEMENTS[kind])) {
      expect(
        differing[kind].some(({ source, text }) => source === name || text === name),
        name,
      ).toBe(true);
    }
  }
});
