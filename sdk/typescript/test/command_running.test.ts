import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { canonicalize } from '../../../src/core/canonical_json.ts';
import { AegisError } from '../src/index.ts';
import { allowed, type Bench, isRunning, openBench, until } from './command_bench.ts';
import { type Answer, problem, scrubbed } from './peer.ts';

let bench: Bench;
afterEach(() => bench.close());

/** Writes its words, each ended by a NUL. */
const SHOW = '#!/bin/sh\nprintf \'%s\\0\' "$@"\n';

describe('what runs', () => {
  test('gets exactly the words that were shown', async () => {
    bench = await openBench();
    bench.write('first/show', SHOW, 0o755);
    const words = [
      'a b',
      '',
      "it's",
      '"',
      '\\',
      'line\nbreak',
      '\r',
      '$HOME',
      '`id`',
      '$(id)',
      '*',
      '~',
      ';',
      '😀',
      '-n',
    ];
    const { stdout } = await bench.run({ argv: ['show', ...words] }, { scrub: false });
    expect(stdout.text.split('\0').slice(0, -1)).toEqual(words);
  });

  test('is known to itself by the word as written', async () => {
    bench = await openBench();
    const { stdout } = await bench.run({ argv: ['sh', '-c', 'echo "$0"'] });
    expect(stdout.text).toBe('sh\n');
  });

  test('has no shell around its words, and one for a text', async () => {
    bench = await openBench();
    const words = await bench.run({ argv: ['echo', 'one', '|', 'cat', '$HOME'] });
    expect(words.stdout.text).toBe('one | cat $HOME\n');
    const text = await bench.run({ command: 'echo one | tr o 0' });
    expect(text.stdout.text).toBe('0ne\n');
  });

  test('is the text even when it looks like an option of the shell', async () => {
    bench = await openBench();
    const { stdout, stderr } = await bench.run({ command: '-c true; echo after' });
    expect(stdout.text).toBe('after\n');
    expect(stderr.text).toContain('-c: not found');
  });

  test('runs in the folder that was shown', async () => {
    bench = await openBench();
    const { stdout } = await bench.run({ argv: ['pwd'], cwd: 'second' });
    expect(bench.asked().cwd).toBe(bench.second);
    expect(stdout.text).toBe(`${bench.second}\n`);
  });

  test('has the environment that was shown over the inherited one, and nothing else', async () => {
    bench = await openBench();
    for (const name of [
      'LD_DEBUG_OUTPUT',
      'BASH_ENV',
      'NODE_OPTIONS',
      'GIT_SSH_COMMAND',
      'API_TOKEN',
      'SHELL',
    ]) {
      vi.stubEnv(name, 'x');
    }
    for (const name of ['HOME', 'LANG', 'SSH_AUTH_SOCK', 'TZ']) {
      vi.stubEnv(name, `own ${name}`);
    }
    for (const name of ['USER', 'LOGNAME', 'TMPDIR', 'TERM', 'LC_ALL', 'LC_CTYPE', 'LANGUAGE']) {
      vi.stubEnv(name, undefined);
    }
    const { stdout } = await bench.run(
      { argv: ['env'], env: { A: 'a b', TZ: 'shown', PYTHONPATH: '/lib' } },
      { inherit: ['SSH_AUTH_SOCK'], allowEnv: ['PYTHONPATH'] },
    );
    expect(stdout.text.trim().split('\n').sort()).toEqual([
      'A=a b',
      'HOME=own HOME',
      'LANG=own LANG',
      `PATH=${process.env.PATH}`,
      'PYTHONPATH=/lib',
      'SSH_AUTH_SOCK=own SSH_AUTH_SOCK',
      'TZ=shown',
    ]);
  });

  test('is given a `PATH` where this process has none', async () => {
    bench = await openBench();
    vi.stubEnv('PATH', undefined);
    const { stdout } = await bench.run({ argv: ['env'] });
    expect(stdout.text).toContain('PATH=/usr/bin:/bin\n');
  });

  test('has nothing to read', async () => {
    bench = await openBench();
    expect(await bench.run({ argv: ['cat'] })).toMatchObject({ exitCode: 0, stdout: { text: '' } });
  });
});

describe('how it ended', () => {
  test('with status 0 is success, reported once with the hash of what came back', async () => {
    bench = await openBench();
    const result = await bench.run({ command: 'echo out; echo err >&2' });
    expect(result).toEqual({
      exitCode: 0,
      signal: null,
      stdout: { text: 'out\n', verdict: 'clean', truncated: false },
      stderr: { text: 'err\n', verdict: 'clean', truncated: false },
    });
    const shown = canonicalize({ exit_code: 0, signal: null, stdout: 'out\n', stderr: 'err\n' });
    expect(bench.outcomes()).toEqual([
      {
        outcome: 'executed',
        effect: 'occurred',
        detail: 'exit status 0',
        result_hash: createHash('sha256').update(shown).digest('hex'),
      },
    ]);
  });

  test('with another status is a result for the caller and a failure for the record', async () => {
    bench = await openBench();
    const { exitCode, stdout } = await bench.run({ command: 'echo half; exit 3' });
    expect([exitCode, stdout.text]).toEqual([3, 'half\n']);
    expect(bench.outcomes()).toMatchObject([
      { outcome: 'failed', effect: 'unknown', detail: 'exit status 3', result_hash: expect.any(String) },
    ]);
  });

  test('by a signal is told by its name', async () => {
    bench = await openBench();
    const result = await bench.run({ command: 'kill -9 $$' });
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    expect(bench.outcomes()).toMatchObject([
      { outcome: 'failed', effect: 'unknown', detail: 'ended by SIGKILL' },
    ]);
  });

  test('is not reported where no person was asked', async () => {
    bench = await openBench(allowed);
    expect(await bench.run({ argv: ['true'] })).toMatchObject({ exitCode: 0 });
    expect(bench.outcomes()).toEqual([]);
  });

  test('is without effect when it could not be started', async () => {
    bench = await openBench();
    bench.write('first/tool', '#!/no/such/interpreter\n', 0o755);
    const error = await bench.run({ argv: ['tool', 'hunter2'] }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AegisError);
    expect(error).toMatchObject({
      code: 'invalid_request',
      reason: 'the command could not be started: ENOENT',
    });
    expect((error as Error).cause).toBeUndefined();
    expect(bench.outcomes()).toEqual([
      { outcome: 'failed', effect: 'none', detail: 'the command could not be started: ENOENT' },
    ]);
  });
});

describe('output', () => {
  const scrub =
    (answer: Answer): Answer =>
    (request, self) =>
      request.path === '/v1/scrub' ? answer(request, self) : undefined;

  test('comes back as the service made it', async () => {
    bench = await openBench(
      scrub(({ bytes }) =>
        scrubbed('redacted', Buffer.from(bytes.toString().replace('hunter2', '[masked]'))),
      ),
    );
    const { stdout, stderr } = await bench.run({ command: 'echo token hunter2' });
    expect(stdout).toEqual({ text: 'token [masked]\n', verdict: 'redacted', truncated: false });
    expect(stderr).toEqual({ text: '', verdict: 'clean', truncated: false });
    const [sent, ...more] = bench.peer.to('/scrub');
    expect(more).toEqual([]);
    expect(sent?.headers['content-type']).toBe('application/octet-stream');
    expect(sent?.bytes.toString()).toBe('token hunter2\n');
  });

  test('that is blocked is empty', async () => {
    bench = await openBench(scrub(() => scrubbed('blocked', Buffer.alloc(0))));
    const { stdout } = await bench.run({ command: 'echo private' });
    expect(stdout).toEqual({ text: '', verdict: 'blocked', truncated: false });
  });

  test.each<[string, Answer]>([
    ['the service cannot be reached', () => ({ cut: true })],
    ['the service refuses', () => problem(403, 'forbidden')],
    ['the service knows no scrubbing', () => problem(404, 'not_found')],
    ['the answer has no verdict', ({ bytes }) => ({ body: bytes })],
    ['the verdict is not known', ({ bytes }) => scrubbed('fine', bytes)],
    ['a blocked answer is not empty', ({ bytes }) => scrubbed('blocked', bytes)],
  ])('is withheld when %s (FAIL CLOSED)', async (_, answer) => {
    bench = await openBench(scrub(answer));
    const result = await bench.run({ command: 'echo hunter2' });
    expect(result.stdout).toEqual({
      text: '',
      verdict: 'withheld',
      truncated: false,
      problem: expect.stringMatching(/^scrub: /),
    });
    expect(JSON.stringify([result, bench.outcomes()])).not.toContain('hunter2');
    expect(bench.outcomes()).toMatchObject([{ outcome: 'executed' }]);
  });

  test('is asked for again when an answer is lost', async () => {
    bench = await openBench(scrub(({ before }) => (before === 0 ? { cut: true } : undefined)));
    expect((await bench.run({ command: 'echo one' })).stdout.text).toBe('one\n');
  });

  test('comes back as it was written with `scrub: false`, and is sent nowhere', async () => {
    bench = await openBench();
    const { stdout } = await bench.run({ command: "printf '\\377\\0x'" }, { scrub: false });
    expect(stdout).toEqual({
      text: '\ufffd\0x',
      verdict: 'raw',
      truncated: false,
      bytes: Buffer.from([0xff, 0, 0x78]),
    });
    expect(bench.peer.to('/scrub')).toEqual([]);
  });

  test('beyond the limit is read and dropped, and the command ends by itself', async () => {
    bench = await openBench();
    const { exitCode, stdout } = await bench.run({
      command: 'head -c 5000000 /dev/zero | tr "\\0" "\\n"; echo end >&2',
    });
    expect([exitCode, stdout.truncated, stdout.text.length]).toEqual([0, true, 1024 * 1024]);
  });

  test('is not cut within a line', async () => {
    bench = await openBench();
    const { stdout } = await bench.run(
      { command: 'printf "one\\ntoken=hunter2\\n"' },
      { outputBytesMax: 12 },
    );
    expect(stdout).toEqual({ text: 'one\n', verdict: 'clean', truncated: true });
    expect(bench.peer.to('/scrub').map(({ bytes }) => bytes.toString())).toEqual(['one\n']);
  });

  test('of what a command leaves running is not waited for', async () => {
    bench = await openBench();
    const { exitCode, stdout } = await bench.run({ command: 'sleep 60 & echo $! > pid; echo started' });
    expect([exitCode, stdout]).toEqual([0, { text: 'started\n', verdict: 'clean', truncated: true }]);
    const pid = Number(bench.read('pid'));
    expect(isRunning(pid)).toBe(true);
    process.kill(pid);
  });
});

describe('an abort', () => {
  const reason = new Error('stop');

  /** Starts a command, aborts it once it has written `pid`, and gives that process. */
  async function abortRunning(command: string, killGraceMs: number): Promise<number> {
    const controller = new AbortController();
    const end = bench.run({ command }, { killGraceMs }, { signal: controller.signal });
    const rejects = expect(end).rejects.toBe(reason);
    await until(() => bench.exists('pid') && bench.read('pid').endsWith('\n'));
    controller.abort(reason);
    await rejects;
    return Number(bench.read('pid'));
  }

  test('ends the command and all that it started', async () => {
    bench = await openBench();
    const pid = await abortRunning('sleep 60 & echo $! > pid; wait; echo over > over', 10_000);
    expect(isRunning(pid)).toBe(false);
    expect(bench.exists('over')).toBe(false);
    expect(bench.outcomes()).toEqual([
      { outcome: 'failed', effect: 'unknown', detail: 'aborted: ended by SIGTERM' },
    ]);
  });

  test('lets a command end by itself', async () => {
    bench = await openBench();
    await abortRunning("trap 'echo cleaned > cleaned; exit 0' TERM; echo $$ > pid; sleep 60 & wait", 10_000);
    expect(bench.exists('cleaned')).toBe(true);
    expect(bench.outcomes()).toMatchObject([{ outcome: 'failed', detail: 'aborted: exit status 0' }]);
  });

  test('ends a command that does not want to, after a time', async () => {
    bench = await openBench();
    const pid = await abortRunning("trap '' TERM; echo $$ > pid; while :; do sleep 1; done", 100);
    expect(isRunning(pid)).toBe(false);
    expect(bench.outcomes()).toMatchObject([{ outcome: 'failed', detail: 'aborted: ended by SIGKILL' }]);
  });

  test('does not wait for what left the command’s group', async () => {
    bench = await openBench();
    const pid = await abortRunning("setsid sh -c 'echo $$ > pid; exec sleep 60' & wait", 50);
    expect(isRunning(pid)).toBe(true);
    process.kill(pid);
    expect(bench.outcomes()).toMatchObject([{ outcome: 'failed', detail: 'aborted: ended by SIGTERM' }]);
  });

  test('before the command was asked for asks for nothing', async () => {
    bench = await openBench();
    const signal = AbortSignal.abort(reason);
    await expect(bench.run({ argv: ['true'] }, {}, { signal })).rejects.toBe(reason);
    expect(bench.peer.received).toEqual([]);
  });

  test('between the decision and the start starts nothing', async () => {
    const controller = new AbortController();
    bench = await openBench(({ path }) => {
      if (path.endsWith('/consume')) controller.abort(reason);
      return undefined;
    });
    await expect(bench.run({ command: 'echo ran > ran' }, {}, { signal: controller.signal })).rejects.toBe(
      reason,
    );
    expect(bench.exists('ran')).toBe(false);
    expect(bench.outcomes()).toMatchObject([{ outcome: 'failed', effect: 'none' }]);
  });
});
