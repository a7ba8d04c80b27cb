import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { describeFirstKeys } from '../src/cli/announce_keys.ts';

const made = {
  path: '.aegis/first-keys.json',
  tokens: { AGENT: 'aeg_a', APPROVER: 'aeg_b', APPROVER2: 'aeg_c', OPERATOR: 'aeg_d' },
};

test('in a terminal the first keys are one line that a shell takes as it stands', () => {
  const text = describeFirstKeys('http://127.0.0.1:8080', made, true);
  const line = text.split('\n').find((candidate) => candidate.startsWith('export ')) ?? '';
  const script = `${line}; echo "$AEGIS_URL $AGENT $APPROVER $APPROVER2 $OPERATOR"`;
  const output = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  expect(output).toBe('http://127.0.0.1:8080 aeg_a aeg_b aeg_c aeg_d\n');
});

test('elsewhere no token is printed, only the file that holds them', () => {
  expect(describeFirstKeys('http://127.0.0.1:8080', made, false)).toBe('first keys: .aegis/first-keys.json');
});
