import { describe, expect, test } from 'vitest';
import { canonicalAction } from '../../../src/core/canonical_action.ts';
import { readSamples } from '../secrets/samples.ts';
import { masker, SHELL_FACTS, shellCall, textsOf, viewOf } from './support.ts';

/** Secrets of the samples that the masker finds, long enough not to stand in a view by chance. */
const HIDDEN = ['gitleaks-samples.json', 'detect-secrets-cases.json']
  .flatMap((name) => readSamples(name))
  .filter(
    ({ isSecret, secret, text }) => isSecret && secret.length >= 8 && !masker.maskText(text).includes(secret),
  );

const TEXTS = [
  ['a command', (text: string) => shellCall(text)],
  ['a wrapped command', (text: string) => shellCall(`sudo sh -c "${text}"; echo done`)],
  ['a list of commands', (text: string) => shellCall(`cd /tmp && echo ${text} | tee a; ${text}`)],
  ['a variable', (text: string) => shellCall('deploy', { env: { NOTE: text } })],
  ['a nested value and a name', (text: string) => shellCall('deploy', { a: [{ b: text }], [text]: 1 })],
] as const;

describe('no secret that the masker finds is in the view of', () => {
  test.each(TEXTS)('%s', (_, toCall) => {
    expect(HIDDEN.length).toBeGreaterThan(200);
    const shown = HIDDEN.filter(({ text, secret }) => {
      const view = viewOf(toCall(text), { facts: SHELL_FACTS });
      return textsOf(view).some((one) => one.includes(secret));
    });
    expect(shown.map(({ text }) => text)).toStrictEqual([]);
  });

  test('an edit that takes it away', () => {
    const shown = HIDDEN.filter(({ text, secret }) => {
      const originalAction = canonicalAction(shellCall(text, { argv: [text] }));
      const view = viewOf(shellCall('true'), { facts: SHELL_FACTS, originalAction });
      return textsOf(view).some((one) => one.includes(secret));
    });
    expect(shown.map(({ text }) => text)).toStrictEqual([]);
  });
});
