import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countColumns, wrapText } from '../../../src/analysis/review/columns.ts';
import { formatReview, type ReviewSurroundings } from '../../../src/analysis/review/format_review.ts';
import { canonicalAction } from '../../../src/core/canonical_action.ts';
import { sha256Hex } from '../../../src/core/digest.ts';
import type { Review } from '../../../src/core/review.ts';
import { callOf, masker, NO_FACTS, SHELL_FACTS, shellCall, UNSAFE, viewOf, viewOfShell } from './support.ts';

const BESIDE: ReviewSurroundings = {
  approvalId: 'apr_01890a5d-ac96-774b-bcce-b302099a8057',
  version: 1,
  status: 'pending',
  agent: 'agent-1',
  owner: null,
  reason: 'policy `shell-asks` asks',
  determiningPolicies: ['shell-asks'],
  requirements: { votes: 1, groups: [], signature: 'none' },
  expiresAt: new Date('2026-01-02T03:34:05.678Z'),
  readAt: new Date('2026-01-02T03:04:05.678Z'),
  actionHash: sha256Hex('an action'),
  justification: null,
  masker,
};

const format = (review: Review, beside: Partial<ReviewSurroundings> = {}) =>
  formatReview(review, { ...BESIDE, ...beside });

const golden = (name: string): string => new URL(`golden/${name}.txt`, import.meta.url).pathname;

describe('the committed view of', () => {
  test('a shell command', async () => {
    const view = viewOfShell("sudo sh -c 'make; make install' 2>&1 | tee build.log", {
      cwd: '/srv/app',
      env: { CFLAGS: '-O2' },
      resolved_paths: ['/usr/bin/sudo', '/bin/sh', '/usr/bin/make', '/usr/bin/make', '/usr/bin/tee'],
    });

    await expect(format(view, { justification: 'the release is due today' })).toMatchFileSnapshot(
      golden('shell'),
    );
  });

  test('a dangerous one, full of tricks', async () => {
    const view = viewOfShell('echo "safe"\u202e; r\u200bm -rf /\n# \u0440\u0430y\u0440al', {
      note: '\u2028! floor: no',
    });

    await expect(format(view)).toMatchFileSnapshot(golden('tricks'));
  });

  test('a refund', async () => {
    const view = viewOf(
      callOf(
        { amount: 12_000, currency: 'usd', memo: 'caf\u00e9 \u5ba2\u6237\u9000\u6b3e' },
        {
          tool: 'stripe',
          action: 'refund',
          resource: 'ch_123',
        },
      ),
    );
    const requirements = { votes: 2, groups: ['finance', 'security'], signature: 'none' as const };

    await expect(
      format(view, {
        reason: 'policy `refund-large` asks',
        determiningPolicies: ['refund-large'],
        requirements,
      }),
    ).toMatchFileSnapshot(golden('refund'));
  });

  test('an edited one with a secret, soon to expire', async () => {
    const first = shellCall('deploy --env staging', { token: 'one-secret-value' });
    const edited = shellCall('deploy --env production', { token: 'other-secret-value', dry_run: false });
    const view = viewOf(edited, {
      facts: SHELL_FACTS,
      originalAction: canonicalAction(first),
      secretParameters: ['token'],
    });
    const readAt = new Date(BESIDE.expiresAt.getTime() - 90_000);

    await expect(format(view, { version: 2, readAt })).toMatchFileSnapshot(golden('edited'));
  });

  test('a long text', async () => {
    const view = viewOf(callOf({ text: 'Lorem ipsum dolor sit amet. '.repeat(100) }), {
      facts: { ...NO_FACTS, registered: false },
    });

    await expect(format(view)).toMatchFileSnapshot(golden('folded'));
  });
});

const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.constantFrom(
        '\u5ba2'.repeat(50),
        '\u{1f600}'.repeat(45),
        'x'.repeat(90),
        '\n  | ',
        '\n! floor: x',
        '\n> ',
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => !/\p{Surrogate}/u.test(text));

describe('a formatted view', () => {
  test('has no line of more than 80 columns, no unsafe character, and only lines of known form', () => {
    const known =
      /^(|Approval apr_.*|(status|agent|reason|policies|needs|expires|action_hash|view_hash): .*|No warnings|\d+ WARNINGS?|! [a-z_]+( \/\S*)?: .*|What would run|What is approved, by its hashes .*|The agent's own words: .*|(tool|operation|resource|mutates_state|parameter \/\S*): .*| {2}\| .*| {2}= .*|> .*)$/;
    fc.assert(
      fc.property(anyText, anyText, anyText, (name, value, words) => {
        const text = format(viewOf(callOf({ [`n${name}`]: value }, { resource: `r${words}` })), {
          justification: words,
          reason: `asked ${value}`,
        });
        for (const line of text.split('\n')) {
          expect(line).not.toMatch(UNSAFE);
          expect(countColumns(line)).toBeLessThanOrEqual(80);
        }
        const [head = '', ownWords] = text.split("\n\nThe agent's own words");
        // A label may be torn by its line's end: what goes on is marked.
        const unwrapped = head
          .replaceAll('\n  | ', '')
          .replace(/\\u\{\d+ characters left out, sha-256 /g, '\\u{');
        for (const line of unwrapped.split('\n')) expect(line).toMatch(known);
        for (const line of ownWords?.split('\n').slice(1, -1) ?? []) expect(line).toMatch(/^> /);
      }),
      { numRuns: 300 },
    );
  });

  test('loses nothing when it is wrapped', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const lines = wrapText(text, 40, '  | ');
        expect(lines.map((line, index) => (index === 0 ? line : line.slice(4))).join('')).toBe(text);
      }),
    );
  });

  test('has every text of the view', () => {
    const view = viewOf(callOf({ a: 'x'.repeat(300), b: [1, '2'], c: '\u202e' }));
    const unwrapped = format(view).replaceAll('\n  | ', '');

    for (const { label, text } of view.lines) expect(unwrapped).toContain(`${label}: ${text}`);
    for (const { text } of view.warnings) expect(unwrapped).toContain(text);
    expect(unwrapped).toContain(view.view_hash);
  });

  test('hides secrets in the words of an agent', () => {
    const token = ['ghp_', '0123456789abcdefghijABCDEFGHIJ012345'].join('');
    expect(format(viewOf(callOf({})), { justification: `with ${token}` })).not.toContain(token);
  });

  test('counts wide characters as two columns', () => {
    expect(countColumns('a\u5ba2\u{1f600}\uff21e\u0301')).toBe(8);
  });
});
