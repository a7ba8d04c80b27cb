import { describe, expect, test } from 'vitest';
import { canonicalize } from '../../src/core/canonical_json.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import {
  EMPTY_EXEC_APPROVALS,
  type ExecApprovalsDocument,
  resolveExecRules,
} from '../../src/core/exec_approvals.ts';
import {
  addEntries,
  computeExecApprovalsHash,
  type EntryInput,
  EXEC_AGENTS_MAX,
  EXEC_ENTRIES_MAX,
  type ExecApprovalsInput,
  listEntries,
  prepareExecApprovals,
  withoutUsage,
} from '../../src/core/exec_approvals_document.ts';
import { parsePathPattern } from '../../src/core/exec_approvals_pattern.ts';
import { toUsageText, USAGE_TEXT_MAX } from '../../src/core/exec_approvals_usage.ts';

function makeIds(): () => string {
  let made = 0;
  return () => {
    made += 1;
    return `id-${made}`;
  };
}

function prepare(agents: ExecApprovalsInput['agents'], defaults: ExecApprovalsInput['defaults'] = {}) {
  return prepareExecApprovals({ version: 1, defaults, agents }, makeIds());
}

function issuesOf(agents: ExecApprovalsInput['agents']) {
  const prepared = prepare(agents);
  return prepared.kind === 'refused' ? prepared.issues : [];
}

function documentOf(agents: ExecApprovalsInput['agents']): ExecApprovalsDocument {
  const prepared = prepare(agents);
  if (prepared.kind === 'refused') throw new Error(JSON.stringify(prepared.issues));
  return withoutUsage(prepared.document);
}

const listOf = (...patterns: string[]): { allowlist: EntryInput[] } => ({
  allowlist: patterns.map((pattern) => ({ pattern })),
});

describe('a document', () => {
  test('is stored with agents in lower case and an id for each entry', () => {
    const entry = { id: 'mine', pattern: '/usr/bin/jq' };
    const agents = { MAIN: { security: 'allowlist' as const, allowlist: [entry, { pattern: '~/bin/x' }] } };
    expect(prepare(agents, { ask: undefined })).toEqual({
      kind: 'prepared',
      document: {
        version: 1,
        defaults: {},
        agents: {
          main: {
            security: 'allowlist',
            allowlist: [
              { id: 'mine', pattern: '/usr/bin/jq' },
              { id: 'id-1', pattern: '~/bin/x' },
            ],
          },
        },
      },
    });
  });

  test.each([
    ['a name that no principal has', { 'a b': {} }, '/agents/a b'],
    ['a pointer that needs escapes', { 'a/b~': {} }, '/agents/a~1b~0'],
    ['two names that are one in lower case', { main: {}, Main: {} }, '/agents/Main'],
    ['a name that is too long', { ['a'.repeat(129)]: {} }, `/agents/${'a'.repeat(129)}`],
  ])('is refused for %s', (_, agents, pointer) => {
    expect(issuesOf(agents)).toEqual([{ pointer, reason: expect.stringMatching(/./) }]);
  });

  test('is refused for an id that two entries have, of different agents too', () => {
    const entry = { id: 'one', pattern: '/usr/bin/jq' };
    expect(issuesOf({ a: { allowlist: [entry] }, '*': { allowlist: [entry] } })).toEqual([
      { pointer: '/agents/*/allowlist/0/id', reason: 'is the id of another entry too' },
    ]);
  });

  test.each([
    ['git', /bare name/],
    ['**', /bare name/],
    ['', /bare name/],
    ['bin/git', /relative/],
    ['./git', /relative/],
    ['~', /bare name/],
    ['~user/bin/git', /relative/],
    ['/usr//bin', /empty one/],
    ['/usr/../bin/git', /`\.\.`/],
    ['~/../x', /`\.\.`/],
    ['/usr/bin/', /empty one/],
    ['/', /empty one/],
    ['/usr/bin/g**', /`\*\*`/],
    ['/usr/bin/a\u0007', /not shown/],
    ['/usr/bin/\u200bgit', /not shown/],
    ['C:tool', /bare name/],
    ['C:/Tools/git.exe.', /Windows/],
    [`/${'a'.repeat(4096)}`, /longer than 4096/],
  ])('is refused for a pattern that could never match: %j', (pattern, reason) => {
    expect(issuesOf({ a: listOf('/usr/bin/jq', pattern) })).toEqual([
      { pointer: '/agents/a/allowlist/1/pattern', reason: expect.stringMatching(reason) },
    ]);
  });

  test.each(['/usr/bin/git', '~/bin/x', '/opt/**/bin/*', 'C:/Tools/git.exe', 'c:\\Tools\\*.exe', '/a b/c'])(
    'takes the pattern %s',
    (pattern) => {
      expect(parsePathPattern(pattern)).not.toHaveProperty('fault');
    },
  );

  test('has an end to its agents and entries', () => {
    const names = Array.from({ length: EXEC_AGENTS_MAX }, (_, index) => `a${index}`);
    const full = Object.fromEntries(names.map((name) => [name, {}]));
    expect(issuesOf(full)).toEqual([]);
    expect(issuesOf({ ...full, '*': {} })).toEqual([
      { pointer: '/agents', reason: 'must not have more than 1000 members' },
    ]);
    const patterns = Array.from({ length: EXEC_ENTRIES_MAX }, (_, index) => `/bin/${index}`);
    expect(issuesOf({ a: listOf(...patterns) })).toEqual([]);
    expect(issuesOf({ a: listOf(...patterns), b: listOf('/bin/x') })).toEqual([
      { pointer: '/agents', reason: 'must not have more than 10000 entries in all' },
    ]);
  });
});

describe('the hash', () => {
  const document = documentOf({ b: listOf('/usr/bin/jq'), a: {} });

  test('is SHA-256 of the canonical JSON', () => {
    const text =
      '{"agents":{"a":{},"b":{"allowlist":[{"id":"id-1","pattern":"/usr/bin/jq"}]}},"defaults":{},"version":1}';
    expect(computeExecApprovalsHash(document)).toBe(sha256Hex(text));
    expect(computeExecApprovalsHash(EMPTY_EXEC_APPROVALS)).toBe(
      sha256Hex(canonicalize({ version: 1, defaults: {}, agents: {} })),
    );
  });

  test('moves neither with usage nor with members that are undefined', () => {
    const used = {
      ...document,
      defaults: { security: undefined },
      agents: {
        ...document.agents,
        b: {
          ask: undefined,
          allowlist: [{ id: 'id-1', pattern: '/usr/bin/jq', last_used_command: 'jq .' }],
        },
      },
    };
    expect(computeExecApprovalsHash(used)).toBe(computeExecApprovalsHash(document));
  });

  test('moves with a pattern, an id, a setting and an agent', () => {
    const others = [
      documentOf({ b: listOf('/usr/bin/jq2'), a: {} }),
      documentOf({ b: { allowlist: [{ id: 'x', pattern: '/usr/bin/jq' }] }, a: {} }),
      documentOf({ b: { ...listOf('/usr/bin/jq'), ask: 'off' }, a: {} }),
      documentOf({ b: listOf('/usr/bin/jq') }),
    ];
    const hashes = [document, ...others].map(computeExecApprovalsHash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('entries are added', () => {
  const document = documentOf({ '*': listOf('/bin/a'), main: { ...listOf('/bin/b'), ask: 'off' } });
  const entriesOf = (...patterns: string[]) => patterns.map((pattern) => ({ id: `new${pattern}`, pattern }));

  test('to the agent, whatever its case, but for what it or `*` lists already', () => {
    const added = addEntries(document, 'MAIN', entriesOf('/bin/a', '/bin/b', '/bin/c', '/bin/c'));
    expect(added?.agents).toEqual({
      ...document.agents,
      main: {
        ask: 'off',
        allowlist: [
          { id: 'id-2', pattern: '/bin/b' },
          { id: 'new/bin/c', pattern: '/bin/c' },
        ],
      },
    });
  });

  test('to an agent that has no settings of its own', () => {
    const added = addEntries(document, 'other', entriesOf('/bin/b'));
    expect(added?.agents.other).toEqual({ allowlist: [{ id: 'new/bin/b', pattern: '/bin/b' }] });
    expect(addEntries(document, 'constructor', entriesOf('/bin/b'))?.agents).toHaveProperty('constructor');
  });

  test('or the document stays the same when there is nothing new', () => {
    expect(addEntries(document, 'main', entriesOf('/bin/a'))).toBe(document);
  });

  test('or not, when the document is full', () => {
    const patterns = Array.from({ length: EXEC_ENTRIES_MAX - 1 }, (_, index) => `/bin/${index}`);
    const almost = documentOf({ a: listOf(...patterns) });
    expect(addEntries(almost, 'b', entriesOf('/x', '/y'))).toBeUndefined();
    const one = addEntries(almost, 'b', entriesOf('/x'));
    expect(listEntries(one ?? almost)).toHaveLength(EXEC_ENTRIES_MAX);
    const names = Array.from({ length: EXEC_AGENTS_MAX }, (_, index) => [`a${index}`, {}]);
    expect(addEntries(documentOf(Object.fromEntries(names)), 'b', entriesOf('/x'))).toBeUndefined();
  });
});

describe('what holds for an agent', () => {
  const document = documentOf({ '*': { ask: 'always', ...listOf('/bin/a') }, main: listOf('/bin/b') });

  test('is its own over that of `*` over the defaults, and both allowlists', () => {
    const { agents } = document;
    const own = { ...agents.main, ask: 'off' as const };
    const resolved = resolveExecRules(
      { version: 1, defaults: { security: 'full', ask: 'on-miss' }, agents: { ...agents, main: own } },
      'Main',
    );
    expect(resolved).toEqual({
      security: 'full',
      ask: 'off',
      askFallback: 'deny',
      autoAllowSkills: false,
      allowlist: [
        { id: 'id-1', pattern: '/bin/a' },
        { id: 'id-2', pattern: '/bin/b' },
      ],
    });
  });

  test('is `deny` where nothing is set', () => {
    expect(resolveExecRules(EMPTY_EXEC_APPROVALS, 'constructor')).toEqual({
      security: 'deny',
      ask: 'on-miss',
      askFallback: 'deny',
      autoAllowSkills: false,
      allowlist: [],
    });
  });
});

describe('the text of the last use', () => {
  test('is cut, and never within a character', () => {
    const cut = toUsageText('😀'.repeat(USAGE_TEXT_MAX));
    expect(cut.length).toBeLessThanOrEqual(USAGE_TEXT_MAX);
    expect(cut).toMatch(/^(😀)+…$/u);
    expect(toUsageText(cut)).toBe(cut);
    expect(toUsageText(`a${'😀'.repeat(USAGE_TEXT_MAX)}`)).toMatch(/^a(😀)+…$/u);
  });

  test('has no control or bidi characters but tabs and line breaks', () => {
    expect(toUsageText('a\tb\nc\u0000d\u001be\u202ef\ud800')).toBe('a\tb\nc\ufffdd\ufffde\ufffdf\ufffd');
  });
});
