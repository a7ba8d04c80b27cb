import { describe, expect, test } from 'vitest';
import { POLICY_COMMANDS } from '../../src/cli/policy/commands.ts';
import { table, toJsonText, visible } from '../../src/cli/terminal.ts';
import { aegis } from './support.ts';

const NAMES = Object.keys(POLICY_COMMANDS.commands);

describe('the usage', () => {
  test('of all commands is printed when asked for', async () => {
    for (const help of ['help', '--help', '-h']) {
      const { code, stdout, stderr } = await aegis('policy', help);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      for (const name of NAMES) expect(stdout).toContain(`aegis policy ${name}`);
    }
    expect((await aegis('tools', 'help')).stdout).toContain('aegis tools import');
    const { stdout } = await aegis('exec-approvals', 'help');
    for (const name of ['import', 'export']) expect(stdout).toContain(`aegis exec-approvals ${name}`);
  });

  test('without a subcommand is wrong use', async () => {
    for (const group of ['exec-approvals', 'policy', 'tools'] as const) {
      const { code, stdout, stderr } = await aegis(group);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^Usage:\n/);
    }
  });

  test.each(NAMES)('of %s is printed when asked for', async (name) => {
    const { code, stdout } = await aegis('policy', name, '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: aegis policy ${name} `));
  });
});

describe('wrong use is told in one line, and ends with 2:', () => {
  test.each<[args: string[], line: RegExp]>([
    [['valdate'], /^unknown command `aegis policy valdate`\. Did you mean `validate`\?$/],
    [
      ['frobnicate'],
      /^unknown command `aegis policy frobnicate`\. Run `aegis policy help` for those there are$/,
    ],
    [['toString'], /^unknown command `aegis policy toString`/],
    [['\u001b[2J'], /^unknown command `aegis policy \ufffd\[2J`/],
    ...NAMES.map((name): [string[], RegExp] => [
      [name, '--colour'],
      new RegExp(`^Unknown option \`--colour\`\\. Usage: aegis policy ${name} `),
    ]),
    ...NAMES.map((name): [string[], RegExp] => [
      [name, 'a', 'b', 'c'],
      new RegExp(`^Unexpected argument \`[bc]\`\\. Usage: aegis policy ${name} `),
    ]),
    [['validate', '--json=yes'], /^Option `--json` does not take an argument\. Usage: /],
    [['explain', '--request'], /argument missing\. Usage: /],
    [['explain'], /^`--request` is missing\. Usage: /],
    [['simulate', '--since', 'yesterday'], /^`--since` is `yesterday` but must be a time such as 24h/],
    [['simulate', '--since', '2026-13-45T00:00:00Z'], /^`--since` is/],
    [['simulate', '--since', '0h'], /^`--since` is/],
    [['simulate', '--limit', '0'], /^`--limit` is `0` but must be a whole number from 1 to 10000$/],
    [['simulate', '--limit', '10001'], /^`--limit` is/],
    [['simulate', '--limit', '1e3'], /^`--limit` is/],
  ])('aegis policy %j', async (args, line) => {
    const { code, stdout, stderr } = await aegis('policy', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr.trimEnd()).toMatch(line);
  });
});

describe('what is written to a terminal', () => {
  test('has neither controls nor what reorders or hides', () => {
    expect(visible('a\u001b[2J\tb\u202ec\u200dd\u2028e\n\ud800')).toBe(
      'a\\u{1b}[2J b\\u{202e}c\\u{200d}d\\u{2028}e\\u{a}\\u{d800}',
    );
  });

  test('as JSON reads to the same value', () => {
    const value = { 'a\u009b': ['\u202e\u200d', '\u{e0001}', 'é', '\u001b', '\u2028'] };
    const text = toJsonText(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{C}\u2028]/u);
  });

  test('stands in columns without spaces at the ends', () => {
    expect(
      table([
        ['a', 'bb', ''],
        ['ccc', 'd', 'e'],
      ]),
    ).toBe('a    bb\nccc  d   e');
  });
});
