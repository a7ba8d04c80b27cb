import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTestService, type TestService } from '../../../test/support/test_service.ts';
import { type CommandInput, type CommandSpec, protectCommand } from '../src/command/index.ts';
import { Aegis, type Approval, type PendingApproval } from '../src/index.ts';

/** Guarded commands and the running service together. */

let service: TestService;
let approver: Aegis;
let approver2: Aegis;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  approver = clientOf(service.tokens.APPROVER);
  approver2 = clientOf(service.tokens.APPROVER2);
});
afterAll(() => service.close());
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'aegis-service-command-')));
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', `${folder}/bin:/usr/bin:/bin`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const TRUSTED = { source_trust: 'trusted_internal' } as const;

function clientOf(key: string): Aegis {
  return new Aegis({ baseUrl: service.url, key, retry: { baseMs: 1, capMs: 20 } });
}

function guard(spec: CommandSpec = {}) {
  const aegis = clientOf(service.tokens.AGENT);
  return protectCommand(aegis, { cwd: folder, context: TRUSTED, ...spec });
}

/** Asks for a command, and gives its approval as soon as there is one. */
async function ask(input: CommandInput, spec?: CommandSpec) {
  let end: ReturnType<ReturnType<typeof guard>> | undefined;
  const { approval_id } = await new Promise<PendingApproval>((resolve, reject) => {
    end = guard(spec)(input, { onPending: resolve });
    end.then(() => reject(new Error('nobody was asked')), reject);
  });
  return { id: approval_id, end: end as NonNullable<typeof end> };
}

/** Has a command approved, and gives how it ended. */
async function runApproved(input: CommandInput, spec?: CommandSpec) {
  const { id, end } = await ask(input, spec);
  await approver.approve(id, { action_hash: (await approver.getApproval(id)).action_hash });
  return { result: await end, approval: await approver.getApproval(id) };
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o755 });

test('an approved command runs with its words, and its end is on record', async () => {
  write('bin/tool', '#!/bin/sh\nprintf "%s|" "$@"; exit 4\n');
  const { result, approval } = await runApproved({ argv: ['tool', 'a b', "it's", ''] });
  expect(result).toMatchObject({ exitCode: 4, stdout: { text: "a b|it's||" } });
  expect(approval).toMatchObject({
    status: 'consumed',
    tool_call: { parameters: { resolved_paths: [join(folder, 'bin/tool')] } },
    outcome: { outcome: 'failed', effect: 'unknown', detail: 'exit status 4' },
  });
});

test('an approved shell text runs, and the service takes what is stated of its host', async () => {
  write('build.sh', 'echo built\n');
  const { result, approval } = await runApproved({ command: 'sh build.sh | tr a-z A-Z', env: { X: '1' } });
  expect(result).toMatchObject({ exitCode: 0, stdout: { text: 'BUILT\n' } });
  expect(approval.tool_call.parameters).toMatchObject({
    command: 'sh build.sh | tr a-z A-Z',
    env: { X: '1' },
    file_digests: { 'build.sh': expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
});

test('a command whose executable is another once it is approved does not run, and is on record as without effect', async () => {
  write('bin/tool', '#!/bin/sh\necho ran > ran\n');
  const { id, end } = await ask({ argv: ['tool'] });
  write('bin/tool', '#!/bin/sh\necho evil > ran\n');
  const refused = expect(end).rejects.toMatchObject({ code: 'integrity' });
  await approver.approve(id, { action_hash: (await approver.getApproval(id)).action_hash });
  await refused;
  expect(await approver.getApproval(id)).toMatchObject({
    status: 'consumed',
    outcome: { outcome: 'failed', effect: 'none', detail: expect.stringContaining('is another file') },
  });
});

test('an edited command runs as it was edited', async () => {
  write('bin/tool', '#!/bin/sh\necho "$1"\n');
  const { id, end } = await ask({ argv: ['tool', 'a'] });
  const { tool_call } = await approver.getApproval(id);
  const parameters = { ...tool_call.parameters, command: 'tool b', argv: ['tool', 'b'] };
  const edited: Approval = await approver.edit(id, { tool_call: { ...tool_call, parameters } });
  await approver2.approve(id, { action_hash: edited.action_hash });
  expect(await end).toMatchObject({ exitCode: 0, stdout: { text: 'b\n' } });
});

describe('what a command writes', () => {
  // In two parts, so that this file holds no secret of its own.
  const token = ['ghp', '4f8Kq2mZ7xW1pR9tY3vB6nL0cD5sJ8hG2aQe'].join('_');

  test('comes back without its secrets', async () => {
    write('secret', `token=${token}\nplain\n`);
    const { result } = await runApproved({ argv: ['cat', 'secret'] });
    expect(result.stdout.verdict).toBe('redacted');
    expect(result.stdout.text).toMatch(/^token=(?!ghp_4f8K).*\nplain\n$/);
  });

  test('is held back whole where it is a private key', async () => {
    const key = ['-----BEGIN', 'PRIVATE KEY-----\n'].join(' ');
    write('secret', `${key}MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n`);
    const { result } = await runApproved({ argv: ['cat', 'secret'] });
    expect(result.stdout).toEqual({ text: '', verdict: 'blocked', truncated: false });
  });

  test('comes back as it is where it holds none', async () => {
    const { result } = await runApproved({ argv: ['printf', '%s\\n', 'é 😀'] });
    expect(result.stdout).toEqual({ text: 'é 😀\n', verdict: 'clean', truncated: false });
  });
});

describe('under an allowlist', () => {
  beforeEach(async () => {
    const every = { security: 'allowlist', ask: 'on-miss', allowlist: [{ pattern: `${folder}/bin/*` }] };
    const document = { version: 1, defaults: {}, agents: { '*': every } };
    expect(await service.operator.call('PUT', '/v1/exec-approvals', { document })).toMatchObject({
      status: 200,
    });
  });

  const neverAsks = {
    onPending: () => {
      throw new Error('a person was asked');
    },
  };

  test('a command whose executables are all on it runs without a person', async () => {
    write('bin/one', '#!/bin/sh\necho one "$@"\n');
    write('bin/two', '#!/bin/sh\nread -r line; echo "two $line"\n');
    const words = await guard()({ argv: ['one', 'a b'] }, neverAsks);
    expect(words.stdout.text).toBe('one a b\n');
    const text = await guard()({ command: 'one | two' }, neverAsks);
    expect(text.stdout.text).toBe('two one\n');
  });

  test('a person is asked about a script, until its digest is stated for an executable on it', async () => {
    write('bin/sh', '#!/bin/sh\nexec /bin/sh "$@"\n');
    write('build.sh', 'echo built\n');
    const bound = await guard()({ argv: ['sh', 'build.sh'] }, neverAsks);
    expect(bound.stdout.text).toBe('built\n');
    await expect(guard()({ argv: ['sh', 'missing.sh'] }, neverAsks)).rejects.toThrow('a person was asked');
  });

  test('a person is asked where an executable is not on it, or its path cannot be told', async () => {
    write('bin/one', '#!/bin/sh\n');
    for (const command of ['one | cat', 'cd / && one', 'PATH=/elsewhere one', 'one $(one)']) {
      await expect(guard()({ command }, neverAsks)).rejects.toThrow('a person was asked');
    }
    await expect(guard()({ argv: ['one'], env: { X: '1' } }, neverAsks)).rejects.toThrow(
      'a person was asked',
    );
  });
});
