import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHost } from '../../src/analysis/paths/host_facts.ts';
import { readPath } from '../../src/analysis/paths/path_facts.ts';
import { buildPolicySet } from './policy_sets.ts';
import { registration, request } from './support.ts';

describe('a path', () => {
  test.each([
    ['src/a.ts', '/repo/src/a.ts'],
    ['./src/../src//a.ts', '/repo/src/a.ts'],
    ['/repo/src/a.ts', '/repo/src/a.ts'],
    ['/repo', '/repo'],
    ['/repo/', '/repo'],
    ['.', '/repo'],
    ['a/b/../..', '/repo'],
    ['..a/...', '/repo/..a/...'],
    ['100%/a', '/repo/100%/a'],
    ['a: b', '/repo/a: b'],
  ])('`%s` is inside the workspace', (raw, normal) => {
    // A text with a colon after its first letters could be a drive or a URL; one with a space cannot.
    const isUrlLike = raw === 'a: b';

    expect(readPath(raw, '/repo')).toEqual({ raw, normal, inside_workspace: !isUrlLike });
  });

  test.each([
    ['', '/repo'],
    ['..', '/'],
    ['../repo/a', '/repo/a'],
    ['a/../../b', '/b'],
    ['../../../../etc/passwd', '/etc/passwd'],
    ['/etc/passwd', '/etc/passwd'],
    ['/repository/a', '/repository/a'],
    ['/wor', '/wor'],
    ['../repository', '/repository'],
    ['/tmp/../repo/a', '/repo/a'],
    ['/repo/../repo/a', '/repo/a'],
    ['/Work/a', '/Work/a'],
    ['a\0b', '/repo/a\0b'],
    ['%2e%2e/a', '/repo/%2e%2e/a'],
    ['a%2Fb', '/repo/a%2Fb'],
    ['a\\..\\..\\b', '/repo/a\\..\\..\\b'],
    ['C:\\a', '/repo/C:\\a'],
    ['C:/a', '/repo/C:/a'],
    ['file:///repo/a', '/repo/file:/repo/a'],
    ['~/a', '/repo/~/a'],
    ['a\nb', '/repo/a\nb'],
  ])('`%s` is not inside the workspace', (raw, normal) => {
    expect(readPath(raw, '/repo')).toEqual({ raw, normal, inside_workspace: false });
  });

  test.each([[null], ['repo'], [''], ['/repo/../home'], ['/re%70o'], ['\\repo']])(
    'is never inside where the root is %j',
    (root) => {
      for (const raw of ['a', '/repo/a', '/', '.', '/home/a']) {
        expect(readPath(raw, root).inside_workspace).toBe(false);
      }
    },
  );

  test('is inside the root of everything if it is absolute in plain words', () => {
    expect(readPath('/etc', '/').inside_workspace).toBe(true);
    expect(readPath('/../etc', '/').inside_workspace).toBe(false);
  });

  test('that is inside has a normal form at or below the root, without a step up', () => {
    const names = fc.array(fc.constantFrom('a', 'b', '..', '.', '', 'repo', 'repository', '%2e', '~'), {
      maxLength: 7,
    });
    fc.assert(
      fc.property(
        names,
        fc.boolean(),
        fc.constantFrom('/repo', '/a/b', '/repo/'),
        (parts, isAbsolute, root) => {
          const { normal, inside_workspace } = readPath((isAbsolute ? '/' : '') + parts.join('/'), root);

          expect(normal.split('/')).not.toContain('..');
          const base = root.replace(/\/$/, '');
          if (inside_workspace) expect(normal === base || normal.startsWith(`${base}/`)).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('has a normal form that is its own, and inside exactly if it is', () => {
    const names = fc.array(fc.constantFrom('a', 'b', '.', '', 'repo'), { maxLength: 6 });
    fc.assert(
      fc.property(names, (parts) => {
        const once = readPath(`/${parts.join('/')}`, '/repo');
        const twice = readPath(once.normal, '/repo');

        expect(twice.normal).toBe(once.normal);
        expect(twice.inside_workspace).toBe(once.inside_workspace);
      }),
    );
  });
});

describe('a host', () => {
  test.each([
    ['example.com', 'example.com', 0],
    ['EXAMPLE.com.', 'example.com', 0],
    ['example.com:8443', 'example.com', 8443],
    ['[::1]:80', '[::1]', 80],
    ['[2001:DB8::0:1]', '[2001:db8::1]', 0],
    ['https://Example.com/a?b#c', 'example.com', 443],
    ['https://example.com:80/', 'example.com', 80],
    ['http://example.com', 'example.com', 80],
    ['wss://example.com', 'example.com', 443],
    ['postgres://user:pw@DB.internal:5432/x', 'db.internal', 5432],
    ['ssh://git@example.com/x', 'example.com', 0],
    ['https://good.com@evil.com/', 'evil.com', 443],
    ['https://good.com:443@evil.com/', 'evil.com', 443],
    ['http://127.1/', '127.0.0.1', 80],
    ['0x7f000001', '127.0.0.1', 0],
    ['2130706433:80', '127.0.0.1', 80],
    ['redis://0177.0.0.1', '127.0.0.1', 0],
    ['http://ex%61mple.com/', 'example.com', 80],
    ['https://bücher.example', 'xn--bcher-kva.example', 443],
    ['Ｅxample.com', 'example.com', 0],
    ['localhost:0', 'localhost', 0],
  ])('`%s` is `%s`, port %i', (text, host, port) => {
    expect(readHost(text)).toEqual({ host, port });
  });

  test.each([
    [''],
    ['.'],
    ['a..'],
    ['example.com:'],
    ['example.com:65536'],
    ['example.com:http'],
    ['example.com/a'],
    ['user@example.com'],
    ['git@github.com:a/b'],
    ['::1'],
    ['[::1'],
    ['[::g]'],
    ['1.2.3.256'],
    ['a b'],
    [' example.com'],
    ['exa\tmple.com'],
    ['https://exa\nmple.com'],
    ['https://good.com\\@evil.com'],
    ['https://good.com\\.evil.com/'],
    ['https:///evil.com'],
    ['https:evil.com'],
    ['https://a@b@c/'],
    ['https://'],
    ['file:///etc/passwd'],
    ['mailto:a@b.c'],
    ['exa\u200bmple.com'],
    ['example.com?x'],
  ])('`%s` is none', (text) => {
    expect(readHost(text)).toBeUndefined();
  });

  test('of a special scheme is what the URL parser finds', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (text) => {
        const url = new URL(text);
        const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);

        expect(readHost(text)).toEqual({ host: url.hostname.replace(/\.$/, ''), port });
      }),
    );
  });
});

describe('a policy reads', () => {
  const text = { type: 'string' };
  const schema = {
    type: 'object',
    properties: { path: text, to: { type: ['string', 'null'] }, url: text },
    required: ['path', 'to'],
  };
  const marks = { parameters_schema: schema, path_parameters: ['path', 'to'], host_parameters: ['url'] };
  const setOf = (condition: string, workspace_root: string | null = null) =>
    buildPolicySet({
      policies: {
        p: `@id("p") permit (principal, action == Aegis::Action::"t.a", resource) when { ${condition} };`,
      },
      tools: [registration('t', 'a', { ...marks, workspace_root })],
    });

  test('whether a path is inside: of the workspace of the key, else of the registry', () => {
    const inside = 'context.paths.path.inside_workspace';
    const call = { path: '/repo/a', to: null };

    expect(setOf(inside, '/repo').decide(request('t', 'a', call)).decision).toBe('allow');
    expect(setOf(inside).decide(request('t', 'a', call)).decision).toBe('deny');
    expect(setOf(inside).decide(request('t', 'a', call, { workspace_root: '/repo' })).decision).toBe('allow');
    expect(setOf(inside, '/repo').decide(request('t', 'a', call, { workspace_root: '/home' })).decision).toBe(
      'deny',
    );
    expect(setOf(inside, '/repo').decide(request('t', 'a', call, { workspace_root: 'repo' })).decision).toBe(
      'deny',
    );
  });

  test('raw and normal form of a path that may be missing, behind `has`', () => {
    const condition =
      'context.paths has to && context.paths.to.raw == "../b" && context.paths.to.normal == "/b"';
    const decide = (to: string | null) =>
      setOf(condition, '/repo').decide(request('t', 'a', { path: 'a', to }));

    expect(decide('../b').decision).toBe('allow');
    expect(decide(null)).toMatchObject({
      decision: 'deny',
      reason: expect.stringContaining('no policy permits'),
    });
    expect(() => setOf('context.paths.to.raw == "x"')).toThrow(/to/);
  });

  test('host and port', () => {
    const condition =
      'context.hosts has url && context.hosts.url.host == "example.com" && context.hosts.url.port == 443';
    const decide = (url: string) => setOf(condition).decide(request('t', 'a', { path: 'a', to: null, url }));

    expect(decide('https://EXAMPLE.com./x').decision).toBe('allow');
    expect(decide('https://example.com:80/x').decision).toBe('deny');
    expect(decide('https://good.com\\@example.com')).toMatchObject({
      decision: 'deny',
      denial: { by: 'parameters' },
      reason: expect.stringContaining('`/url` must be a host'),
    });
  });

  test('no path or host that is not marked', () => {
    expect(() => setOf('context.paths.url.inside_workspace')).toThrow(/url/);
    expect(() => setOf('!(context.hosts has path)')).toThrow(/`context\.hosts\.path`/);
  });
});
