import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ReviewLine } from '../../src/core/review.ts';
import type { SlackNotice } from '../../src/core/slack_ports.ts';
import { renderMessage } from '../../src/notify/slack/render_message.ts';
import { buttonsOf, wordsOf } from './slack_server.ts';

const APPROVAL = 'apr_01890a5d-ac96-774b-bcce-b302099a8057';
const CONSOLE = 'https://aegis.example.com';
const LINK = `${CONSOLE}/console/approvals/${APPROVAL}`;
const OPTIONS = { publicUrl: () => CONSOLE, takesClicks: true };

function lineOf(text: string, more: Partial<ReviewLine> = {}): ReviewLine {
  return {
    kind: 'parameter',
    label: '/parameters/a',
    text,
    path: '/parameters/a',
    folded: null,
    depth: 0,
    ...more,
  };
}

function noticeOf(more: Partial<SlackNotice> = {}): SlackNotice {
  return {
    approvalId: APPROVAL,
    version: 1,
    status: 'pending',
    actionHash: 'a'.repeat(64),
    viewHash: 'b'.repeat(64),
    tool: 'stripe',
    action: 'refund',
    agent: 'agent-1',
    owner: null,
    places: [],
    justification: null,
    reason: 'large refunds need approval',
    policies: ['stripe-refund-large-needs-approval'],
    lines: [lineOf('9000')],
    warnings: [],
    isDestructive: false,
    recentRuns: 0,
    needs: { votes: 1, groups: [], isSigned: false },
    votes: [],
    missing: { votes: 1, groups: [] },
    edits: [],
    decidedBy: null,
    decidedAt: null,
    decisionReason: null,
    voidReason: null,
    consumedAt: null,
    expiresAt: new Date('2026-03-01T10:30:00Z'),
    ...more,
  };
}

function render(more: Partial<SlackNotice> = {}, options = OPTIONS) {
  const { text, blocks, digest } = renderMessage(noticeOf(more), options);
  return { channel: '', ts: '', changes: 0, text, blocks, digest };
}

/** Every foreign text of a notice replaced by one. */
function noticeFull(text: string): Partial<SlackNotice> {
  const at = new Date('2026-03-01T10:10:00Z');
  return {
    tool: text,
    action: text,
    agent: text,
    owner: text,
    places: [{ name: 'workspace', value: text }],
    justification: text,
    reason: text,
    policies: [text],
    lines: [lineOf(text, { label: text, path: text })],
    warnings: [{ code: 'confusable_characters', path: text, text }],
    needs: { votes: 2, groups: [text], isSigned: false },
    missing: { votes: 1, groups: [text] },
    votes: [{ approver: text, decision: 'approve', at, reason: text }],
    edits: [{ editor: text, at: at.toISOString(), reason: text }],
    decidedBy: text,
    decidedAt: at,
    decisionReason: text,
  };
}

interface Leaf {
  value: string;
  member: string;
  /** The object it is a member of, and those around it, innermost first. */
  around: Record<string, unknown>[];
}

function leavesOf(value: unknown, around: Record<string, unknown>[] = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item) => leavesOf(item, around));
  if (typeof value !== 'object' || value === null) return [];
  const object = value as Record<string, unknown>;
  return Object.entries(object).flatMap(([member, inner]) =>
    typeof inner === 'string'
      ? [{ value: inner, member, around: [object, ...around] }]
      : leavesOf(inner, [object, ...around]),
  );
}

const KNOWN_TYPES = new Set([
  'header',
  'plain_text',
  'rich_text',
  'rich_text_section',
  'rich_text_preformatted',
  'text',
  'link',
  'actions',
  'button',
]);

/** Whether a leaf is a text that Slack shows letter by letter behind a fence. */
function isFenced({ member, around }: Leaf): boolean {
  const [run, holder] = around;
  const isCode = (run?.style as { code?: boolean } | undefined)?.code === true;
  return member === 'text' && run?.type === 'text' && (isCode || holder?.type === 'rich_text_preformatted');
}

/** What could do more than be read: elements of other kinds, and addresses. */
function findActing(blocks: object[]): string[] {
  return leavesOf(blocks).flatMap(({ member, value }) => {
    if (member === 'type' && !KNOWN_TYPES.has(value)) return [`type ${value}`];
    return member === 'url' && value !== LINK ? [`url ${value}`] : [];
  });
}

const { strings } = JSON.parse(
  readFileSync(new URL('../vectors/unicode/big-list-of-naughty-strings.json', import.meta.url), 'utf8'),
) as { strings: string[] };

const SLACKISH = [
  '<!channel> <!here> <!everyone>',
  '<@U012AB3CD> <#C012AB3CD> <!subteam^S012>',
  '<https://evil.example|open the console>',
  'https://evil.example and mailto:a@evil.example',
  '```\n*bold* _it_ ~st~ `code` :tada: &lt;!channel&gt;',
  '@channel @here #general',
];

test.each(['pending', 'consumed'] as const)(
  'no text of others is a link, a mention or a format in a message of an approval that is %s',
  (status) => {
    for (const text of [...SLACKISH, ...strings]) {
      const { blocks, text: notification } = render({ ...noticeFull(text), status });
      expect(findActing(blocks)).toStrictEqual([]);
      expect(notification).toMatch(
        /^[A-Z][a-z ,]+(: [A-Za-z0-9_-]+ [A-Za-z0-9_-]+ by [A-Za-z0-9_-]+)? \(apr_[0-9a-f-]+\)$/,
      );
    }
  },
);

test('text of others stands behind a fence wherever it stands, and is there letter by letter', () => {
  const text = 'f0reign <!channel> `*x*` &amp; https://evil.example';
  for (const status of ['pending', 'approved', 'rejected'] as const) {
    const { blocks, text: notification } = render({ ...noticeFull(text), status });
    const leaves = leavesOf(blocks).filter(
      ({ value, member }) => value.includes('f0reign') && member !== 'value',
    );
    // Agent, owner, tool, action, place, reason, policy, warning and its path, line and its label, words, vote and its
    // reason, edit and its reason.
    expect(leaves.length).toBeGreaterThanOrEqual(16);
    expect(leaves.filter((leaf) => !isFenced(leaf))).toStrictEqual([]);
    expect(leaves.filter(({ value }) => value !== text)).toStrictEqual([]);
    expect(notification).not.toContain('f0reign');
  }
});

test('the buttons say approval, version, action and view, within what Slack takes', () => {
  const { Approve, Reject, ...others } = buttonsOf(render());
  const value = {
    v: 1,
    approval_id: APPROVAL,
    version: 1,
    action_hash: 'a'.repeat(64),
    view_hash: 'b'.repeat(64),
  };
  expect(JSON.parse(Approve?.value ?? '')).toStrictEqual(value);
  expect(JSON.parse(Reject?.value ?? '')).toStrictEqual(value);
  expect(Approve?.value?.length).toBeLessThan(2_000);
  expect(others['Open in the console']).toMatchObject({ url: LINK });
});

test('what cannot be undone is asked for twice', () => {
  expect(buttonsOf(render()).Approve).not.toHaveProperty('confirm');
  expect(buttonsOf(render({ isDestructive: true })).Approve).toHaveProperty('confirm');
});

test('a message says what is needed, who voted, what is missing and when it expires', () => {
  const words = wordsOf(
    render({
      needs: { votes: 2, groups: ['finance', 'security'], isSigned: false },
      missing: { votes: 1, groups: ['security'] },
      votes: [
        {
          approver: 'ann',
          decision: 'approve',
          at: new Date('2026-03-01T10:10:00Z'),
          reason: 'known customer',
        },
      ],
      recentRuns: 3,
    }),
  ).replaceAll('\n', '');
  expect(words).toContain('Needs 2 votes, one each of finance, security. Missing: 1 vote, of security.');
  expect(words).toContain('Expires 2026-03-01 10:30:00 UTC');
  expect(words).toContain('ann voted to approve at 2026-03-01 10:10:00 UTC');
  expect(words).toContain('ann saysknown customer');
  expect(words).toContain('ran the same action 3 times');
});

const HINDRANCES: [string, Partial<SlackNotice>, string][] = [
  [
    'a view of too many lines',
    { lines: Array.from({ length: 60 }, (_, i) => lineOf(`${i}`)) },
    'too long for Slack',
  ],
  [
    'a line that is too long',
    { lines: [lineOf('x'.repeat(3_001)), lineOf('2')] },
    '1 part is too long for Slack',
  ],
  [
    'a line of long letters',
    { lines: [lineOf('ä'.repeat(600)), lineOf('2')] },
    '1 part is too long for Slack',
  ],
  [
    'lines that are too long together',
    { lines: Array.from({ length: 8 }, () => lineOf('y'.repeat(2_000))) },
    'parts are too long',
  ],
  ['a reason that is too long', { reason: 'z'.repeat(4_000) }, '1 part is too long for Slack'],
  [
    'words of the agent that are too long',
    { justification: '&'.repeat(1_500) },
    '1 part is too long for Slack',
  ],
  [
    'a value that is folded',
    { lines: [lineOf('x…y', { folded: { length: 9_000, sha256: 'c'.repeat(64) } })] },
    'only both ends',
  ],
  [
    'a name that is folded',
    { warnings: [{ code: 'folded', path: '/a', text: 'a name is long' }] },
    'only both ends',
  ],
  [
    'a vote that is to be signed',
    { needs: { votes: 1, groups: [], isSigned: true } },
    'signed with a passkey',
  ],
];

test.each(HINDRANCES)(
  '%s is not approved by a button: the message says why and leads to the console',
  (_, more, why) => {
    const message = render(more);
    expect(Object.keys(buttonsOf(message))).toStrictEqual(['Reject', 'Open in the console']);
    expect(JSON.parse(buttonsOf(message).Reject?.value ?? '').view_hash).toBeNull();
    expect(wordsOf(message)).toContain(why);
    expect(JSON.stringify(message.blocks)).toContain(
      JSON.stringify({ type: 'link', url: LINK, text: 'in the console' }),
    );
  },
);

test('what is shown is shown whole: a part that does not fit is left out, and the others are there', () => {
  const message = render({ lines: [lineOf('x'.repeat(3_001)), lineOf('second'), lineOf('third')] });
  const words = wordsOf(message);
  expect(words).not.toContain('xxx');
  expect(words).toContain('2 of 3: ');
  expect(words).toContain('second');
  expect(words).toContain('third');
});

test('no message is larger than Slack takes, however much there is to say', () => {
  const long = 'ü<&>"\\/'.repeat(500);
  const votes = Array.from({ length: 10 }, (_, index) => ({
    approver: `${index}`.repeat(128),
    decision: 'approve' as const,
    at: new Date(0),
    reason: 'r'.repeat(2_000),
  }));
  const full = noticeFull(long);
  for (const more of [
    {
      ...full,
      agent: 'a'.repeat(128),
      owner: 'o'.repeat(128),
      decidedBy: 'd'.repeat(128),
      votes,
      needs: noticeOf().needs,
      missing: noticeOf().missing,
    },
    { lines: Array.from({ length: 500 }, () => lineOf(long.slice(0, 400))), votes },
  ]) {
    const { blocks } = render(more);
    const json = JSON.stringify(blocks).replace(
      /[^\x20-\x7e]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    expect(blocks.length).toBeLessThanOrEqual(50);
    expect(json.length).toBeLessThanOrEqual(12_000);
  }
});

test('a service that takes no clicks has no buttons but the way to the console', () => {
  const message = render({}, { ...OPTIONS, takesClicks: false });
  expect(Object.keys(buttonsOf(message))).toStrictEqual(['Open in the console']);
  expect(wordsOf(message)).toContain('takes no clicks');
});

const AT = new Date('2026-03-01T10:10:00Z');
const DECIDED = { decidedBy: 'ann', decidedAt: AT, decisionReason: 'as agreed' };
const FINAL: [string, Partial<SlackNotice>, string[]][] = [
  [
    'approved',
    { status: 'approved', ...DECIDED },
    ['Approved by ann at 2026-03-01 10:10:00 UTC', 'as agreed'],
  ],
  [
    'rejected',
    { status: 'rejected', ...DECIDED },
    ['Rejected by ann at 2026-03-01 10:10:00 UTC', 'as agreed'],
  ],
  [
    'taken back',
    { status: 'cancelled', ...DECIDED },
    ['Taken back by ann at 2026-03-01 10:10:00 UTC', 'as agreed'],
  ],
  ['taken back with its connection', { status: 'cancelled' }, ['Taken back: whoever waited']],
  ['expired', { status: 'expired' }, ['Expired at 2026-03-01 10:30:00 UTC, before it was decided']],
  ['expired after a yes', { status: 'expired', ...DECIDED }, ['Approved by ann', 'before it was used']],
  [
    'voided',
    { status: 'voided', voidReason: 'key_revoked' },
    ['Voided: a key that it rested on was revoked'],
  ],
  [
    'used',
    { status: 'consumed', ...DECIDED, consumedAt: new Date('2026-03-01T10:11:00Z') },
    ['Approved by ann', 'Used at 2026-03-01 10:11:00 UTC'],
  ],
];

test.each(FINAL)(
  'of an approval that is %s the message says so, with who, when and why, and has no buttons to decide',
  (_, more, said) => {
    const message = render(more);
    const words = wordsOf(message).replaceAll('\n', '');
    for (const text of said) expect(words).toContain(text);
    expect(Object.keys(buttonsOf(message))).toStrictEqual(['Open in the console']);
  },
);

test('the digest moves with what is shown, and with nothing else', () => {
  const first = render().digest;
  expect(render().digest).toBe(first);
  expect(render({ decisionReason: null }).digest).toBe(first);
  for (const more of [
    { version: 2 },
    { status: 'approved' as const, ...DECIDED },
    { missing: { votes: 2, groups: [] } },
  ]) {
    expect(render(more).digest).not.toBe(first);
  }
});
