import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { createTestDatabase, type TestDatabase } from '../support/test_database.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECONDS_MAX = 20;

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

let folder: { path: string; remove(): void };
let database: TestDatabase;
beforeAll(async () => {
  folder = makeFolder();
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  folder.remove();
});

/** Runs the built command to its end, with only these variables; on the test's database unless told otherwise. */
function aegis(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  const dataDir = join(folder.path, 'data');
  const own = { PATH, HOME, PORT: '0', DATABASE_URL: database.url, AEGIS_DATA_DIR: dataDir };
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...own, ...env }, timeout: SECONDS_MAX * 1000 };
    const child = execFile(
      process.execPath,
      [join(ROOT, 'dist/aegis.js'), ...args],
      options,
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** Fails unless the command ended with 1 and said one line on stderr, nothing on stdout. Returns the line. */
function expectOneLine({ code, stdout, stderr }: Ended): string {
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  expect(lines, stderr).toHaveLength(1);
  const [line = ''] = lines;
  expect(line).not.toMatch(/^\s*at |node:internal|\bError:/);
  expect(line).not.toMatch(/^[{[]/);
  return line;
}

describe('aegis serve says in one line what is wrong, and ends', () => {
  it.each<[name: string, env: Record<string, string>, line: RegExp]>([
    ['PORT', { PORT: 'eighty' }, /^PORT is `eighty` but must be a whole number from 0 to 65535/],
    ['HOST', { HOST: '0.0.0.0' }, /^HOST is `0\.0\.0\.0`.*AEGIS_TRUST_PROXY.*AEGIS_ALLOW_PLAIN_HTTP=1/],
    [
      'HOST that is nobody',
      { HOST: 'no.such.host.invalid', AEGIS_ALLOW_PLAIN_HTTP: '1' },
      /^cannot listen on no\.such\.host\.invalid.*Set PORT or HOST/,
    ],
    ['AEGIS_APPROVAL_TTL_SECS', { AEGIS_APPROVAL_TTL_SECS: '0' }, /^AEGIS_APPROVAL_TTL_SECS is `0`/],
    ['AEGIS_TRUST_PROXY', { AEGIS_TRUST_PROXY: '10.0.0.0/99' }, /^AEGIS_TRUST_PROXY is `10\.0\.0\.0\/99`/],
    ['an unknown name', { AEGIS_PROT: '1' }, /^AEGIS_PROT is not a variable/],
    ['a name with a slip', { AEGIS_APPROVAL_TTL_SEC: '1' }, /Did you mean AEGIS_APPROVAL_TTL_SECS\?$/],
    [
      'DATABASE_URL',
      { DATABASE_URL: 'mysql://root@localhost/x' },
      /^DATABASE_URL must be a url of postgresql/,
    ],
  ])('%s %o', async (_, env, line) => {
    expect(expectOneLine(await aegis(['serve'], env))).toMatch(line);
  });

  it('a secret of a wrong form is not repeated', async () => {
    const line = expectOneLine(await aegis(['serve'], { AEGIS_BOOTSTRAP_OPERATOR_KEY: 'hunter2' }));
    expect(line).toMatch(/^AEGIS_BOOTSTRAP_OPERATOR_KEY must be/);
    expect(line).not.toContain('hunter2');
  });

  it('a port in use, and makes no keys that nobody is shown', async () => {
    const blocker: Server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const { port } = blocker.address() as { port: number };
    const own = await createTestDatabase();
    const dataDir = join(folder.path, 'blocked');
    const ended = await aegis(['serve'], {
      PORT: String(port),
      DATABASE_URL: own.url,
      AEGIS_DATA_DIR: dataDir,
    });
    expect(expectOneLine(ended)).toBe(
      `cannot listen on 127.0.0.1 port ${port} (EADDRINUSE). Set PORT or HOST to another`,
    );
    expect(readdirSync(dataDir)).toEqual([]);
    blocker.close();
    await own.drop();
  });

  it('a database that is not there, without its url', async () => {
    const [first, second] = [
      'postgres://me:sesame@127.0.0.1:1/aegis',
      'postgres://me:sesame@no.such.host.invalid/aegis',
    ] as const;
    for (const url of [first, second]) {
      const line = expectOneLine(await aegis(['serve'], { DATABASE_URL: url }));
      expect(line).toMatch(
        /^the database of DATABASE_URL cannot be reached\. Start it, or correct the url \((ECONNREFUSED|ENOTFOUND|EAI_AGAIN)\)$/,
      );
      expect(line).not.toContain('sesame');
    }
  });

  it('a database name that does not exist', async () => {
    const url = inject('serverUrl').replace(/\/[^/]*$/, '/nowhere');
    const line = expectOneLine(await aegis(['serve'], { DATABASE_URL: url }));
    expect(line).toMatch(/^the database of DATABASE_URL has no database of this name\. .* \(3D000\)$/);
  });

  it('a data folder that cannot be one', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    for (const databaseUrl of [database.url, '']) {
      const ended = await aegis(['serve'], { AEGIS_DATA_DIR: join(file, 'data'), DATABASE_URL: databaseUrl });
      expect(expectOneLine(ended)).toMatch(/ENOTDIR|EEXIST/);
    }
  });
});

describe('a policy folder, at the first start', () => {
  // Later the rules that decided before go on deciding.
  let empty: TestDatabase;
  beforeAll(async () => {
    empty = await createTestDatabase();
  });
  afterAll(() => empty.drop());

  const serve = (path: string): Promise<Ended> =>
    aegis(['serve'], { AEGIS_POLICY_DIR: path, DATABASE_URL: empty.url });
  const folderWith = (name: string, files: Record<string, string>): string => {
    const path = join(folder.path, name);
    mkdirSync(join(path, 'tools'), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    return path;
  };

  it('that is missing, a file, or empty is named, with the variable to set', async () => {
    const file = join(folder.path, 'policies.cedar');
    writeFileSync(file, '');
    for (const path of [join(folder.path, 'nowhere'), file, folderWith('empty', {})]) {
      const line = expectOneLine(await serve(path));
      expect(line).toContain(path);
      expect(line).toMatch(/AEGIS_POLICY_DIR|Correct the path/);
    }
  });

  it.each<[what: string, text: string]>([
    ['a syntax error', '@id("a")\n@reason("x")\npermit (principal, action, resource) when { 1 + };\n'],
    ['no id', '\n\npermit (principal, action, resource);\n'],
    [
      'a misspelt attribute',
      '\n@id("a")\n@reason("x")\npermit (principal, action, resource) when { context.tol.registered };\n',
    ],
    ['no end', '@id("a") permit (principal, action, resource) when { true\n'],
    ['no cedar at all', 'hello\n'],
  ])('with %s is refused with file and line', async (what, text) => {
    const { code, stdout, stderr } = await serve(
      folderWith(what.replaceAll(' ', '_'), { 'main.cedar': text }),
    );
    expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^main\.cedar:\d+/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each(['{', '{"tool":"a","tool":"b"}', '[]', '{"tool":"x"}', ''])(
    'with %j for a tool file is refused with its name',
    async (text) => {
      const path = join(folder.path, 'tools_broken');
      cpSync(join(ROOT, 'policies'), path, { recursive: true });
      writeFileSync(join(path, 'tools', 'broken.json'), text);
      const { code, stdout, stderr } = await serve(path);
      expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^tools\/broken\.json: /);
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );
});

describe('aegis', () => {
  it.each([[[]], [['server']], [['serve', 'now']], [['--port', '1']], [['\u001b[2J']]])(
    '%j is refused in one line',
    async (args) => {
      expect(expectOneLine(await aegis(args))).toMatch(/Run `aegis help` for those there are$/);
    },
  );

  it('help is on stdout', async () => {
    const { code, stdout, stderr } = await aegis(['help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of ['keys create', 'policy validate', 'policy fmt', 'tools import']) {
      expect(stdout).toContain(`aegis ${command}`);
    }
  });
});

describe('aegis policy and aegis tools', () => {
  const nowhere = () => ({ AEGIS_POLICY_DIR: join(folder.path, 'nowhere'), DATABASE_URL: '' });

  it.each<[args: string[], line: RegExp]>([
    [['policy', 'vaildate'], /^unknown command `aegis policy vaildate`\. Did you mean `validate`\?$/],
    [['policy', '\u001b[2J'], /^unknown command .* Run `aegis policy help` for those there are$/],
    [['policy', 'validate', '--colour'], /^Unknown option `--colour`\. Usage: aegis policy validate /],
    [['policy', 'validate'], /ENOENT.*nowhere.*Correct the path/],
    [['policy', 'explain', '--request', '/dev/null'], /^`\/dev\/null`: text is not strict json/],
    [['policy', 'simulate'], /ENOENT.*nowhere/],
    [['tools', 'export'], /^unknown command `aegis tools export`/],
    [['tools', 'import'], /^Usage: aegis tools import /],
    [['tools', 'import', '/dev/null'], /^`\/dev\/null`: text is not strict json/],
  ])('%j is refused in one line, with 2', async (args, line) => {
    const { code, stdout, stderr } = await aegis(args, nowhere());
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
    expect(stderr.trimEnd()).toMatch(line);
  });

  it('ends with 0 for a set that is fine, with 1 for one that is not, and writes no colours into a pipe', async () => {
    const fine = await aegis(['policy', 'validate', 'policies'], { DATABASE_URL: '' });
    expect(fine).toMatchObject({ code: 0, stderr: '' });
    expect(fine.stdout).toMatch(/^valid: policies has /);
    const broken = join(folder.path, 'for_validate');
    mkdirSync(broken);
    writeFileSync(join(broken, 'a.cedar'), 'permit (principal, action, resource);\n');
    const refused = await aegis(['policy', 'validate'], { AEGIS_POLICY_DIR: broken, DATABASE_URL: '' });
    expect(refused).toMatchObject({ code: 1, stderr: '' });
    expect(refused.stdout).toMatch(/a\.cedar:1:1: .*\n {4}permit .*\n {4}\^\n.*\n1 problem\n$/);
  });

  it('reads a request from the standard input', async () => {
    const call = {
      tool: 'stripe',
      action: 'refund',
      mutates_state: true,
      parameters: { amount: 1, currency: 'usd' },
    };
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(ROOT, 'dist/aegis.js'), 'policy', 'explain', 'policies', '--request', '-'],
      {
        cwd: ROOT,
        env: { PATH: process.env.PATH },
        input: JSON.stringify({ tool_call: call, context: { source_trust: 'trusted_internal' } }),
        encoding: 'utf8',
      },
    );
    expect({ status, decision: stdout.split('\n')[0] }).toEqual({ status: 0, decision: 'allow' });
  });

  it('ends quietly when nobody reads its output to the end', () => {
    const script = `"$0" "$1" policy explain policies --request "$2" | true; echo "\${PIPESTATUS[0]}"`;
    const request = join(folder.path, 'request.json');
    const call = {
      tool: 'crm',
      action: 'read_customer',
      mutates_state: false,
      parameters: { customer_id: 'c' },
    };
    writeFileSync(request, JSON.stringify({ tool_call: call }));
    const { stdout, stderr } = spawnSync(
      'bash',
      ['--norc', '-c', script, process.execPath, join(ROOT, 'dist/aegis.js'), request],
      { cwd: ROOT, env: { PATH: process.env.PATH }, encoding: 'utf8' },
    );
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
  });
});

describe('aegis keys create', () => {
  const KEY = ['--principal', 'bob', '--role', 'approver'];
  beforeAll(async () => {
    const env = { DATABASE_URL: database.url, AEGIS_DATA_DIR: join(folder.path, 'data') };
    await (await startServiceProcess(env)).end('SIGTERM');
  });

  it.each<[args: string[], line: RegExp]>([
    [[], /^Usage: aegis keys create/],
    [['create'], /^`--role` needs one of agent, .*Usage: /],
    [['create', '--principal', 'bob'], /^`--role` needs one of/],
    [['create', '--role', 'agent'], /^`--principal` needs a name/],
    [['create', '--principal', 'b ob', '--role', 'agent'], /^`--principal` needs a name/],
    [['create', ...KEY, '--owner', 'a/b'], /^`--owner` needs a name/],
    [['create', ...KEY, '--group', 'a b'], /^`--group` needs a name/],
    [['create', ...KEY, '--colour', 'red'], /^Unknown option `--colour`\. Usage: /],
    [['create', ...KEY, 'surplus'], /^Unexpected argument `surplus`\. Usage: /],
    [['create', '--principal'], /`--principal <value>` argument missing\. Usage: /],
    [
      ['create', '--principal', 'bob', '--role', 'agent', '--role', 'operator'],
      /`agent` excludes `operator`/,
    ],
    [
      ['create', '--principal', 'bob', '--role', 'platform'],
      /^`--role` needs one of agent, approver, operator, auditor\. Usage: /,
    ],
    [['create', ...KEY, '--owner', 'alice'], /only an agent has an owner/],
  ])('%j is refused in one line', async (args, line) => {
    expect(expectOneLine(await aegis(['keys', ...args]))).toMatch(line);
  });

  it('for an unknown tenant is refused in one line', async () => {
    for (const tenant of ['nowhere', 'No Where', '']) {
      const line = expectOneLine(await aegis(['keys', 'create', ...KEY, '--tenant', tenant]));
      expect(line).toBe(
        `there is no tenant \`${tenant}\`. Make it with \`POST /v1/tenants\`, or leave \`--tenant\` out`,
      );
    }
  });

  it('before any start is refused in one line, and starts nothing', async () => {
    const dataDir = join(folder.path, 'never');
    const line = expectOneLine(
      await aegis(['keys', 'create', ...KEY], { DATABASE_URL: '', AEGIS_DATA_DIR: dataDir }),
    );
    expect(line).toContain(dataDir);
    expect(line).toContain('aegis serve');
    expect(readdirSync(folder.path)).not.toContain('never');
    const empty = await createTestDatabase();
    expect(expectOneLine(await aegis(['keys', 'create', ...KEY], { DATABASE_URL: empty.url }))).toMatch(
      /never migrated/,
    );
    await empty.drop();
  });

  it('without its database is refused in one line', async () => {
    const url = 'postgres://me:sesame@127.0.0.1:1/aegis';
    expect(expectOneLine(await aegis(['keys', 'create', ...KEY], { DATABASE_URL: url }))).not.toContain(
      'sesame',
    );
  });

  it('prints the token alone, and it is good at once', async () => {
    const { code, stdout, stderr } = await aegis(['keys', 'create', ...KEY, '--group', 'finance']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^aeg_\S+\n$/);
  });
});

describe('two services on one data folder', () => {
  let first: ServiceProcess;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = join(folder.path, 'shared');
    mkdirSync(dataDir);
    // As root the server runs as another account, which only has to get in.
    chmodSync(folder.path, 0o755);
    first = await startServiceProcess({ AEGIS_DATA_DIR: dataDir });
  });
  afterAll(() => first.end('SIGTERM'));

  it('the second ends with one line, and the first is left alone', async () => {
    const ended = await aegis(['serve'], { DATABASE_URL: '', AEGIS_DATA_DIR: dataDir });
    const lines = ended.stderr
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('{'));
    expect(ended.code).toBe(1);
    expect(lines).toEqual([
      `another Aegis service is using the data folder \`${dataDir}\`. Stop it or set AEGIS_DATA_DIR`,
    ]);
    expect((await first.as(first.tokens?.AGENT).get('/v1/me')).status).toBe(200);
    expect((await first.as(undefined).get('/readyz')).status).toBe(200);
  });

  it('keys made beside the running service, even after such an attempt, are its own', async () => {
    const made = await aegis(['keys', 'create', '--principal', 'carol', '--role', 'auditor'], {
      DATABASE_URL: '',
      AEGIS_DATA_DIR: dataDir,
    });
    expect(made.stderr).toBe('');
    expect((await first.as(made.stdout.trim()).get('/v1/me')).body.principal).toBe('carol');
  });
});
