import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { IntegrityError, PendingError, type ToolCall } from '../src/index.ts';
import { allowed, asConsumed, type Bench, meanwhile, openBench } from './command_bench.ts';
import { type Answer, consumeAnswer, edited } from './peer.ts';

let bench: Bench;
afterEach(() => bench.close());

/** A command that leaves a trace when it runs. */
const TRACE = '#!/bin/sh\necho ran >> ran\n';

/** Nothing ran, and the service was told so. */
async function expectRefused(end: Promise<unknown>, reason: RegExp): Promise<void> {
  const error = await end.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(IntegrityError);
  expect(error).toMatchObject({ reason: expect.stringMatching(reason) });
  expect(bench.exists('ran')).toBe(false);
  expect(bench.outcomes()).toEqual([
    { outcome: 'failed', effect: 'none', detail: expect.stringMatching(reason) },
  ]);
}

describe.each([
  ['while a person decides', meanwhile],
  ['while it is consumed', asConsumed],
])('a command does not run when, %s,', (_, when) => {
  test('another file comes first in the `PATH`', async () => {
    bench = await openBench(when(() => bench.write('first/tool', TRACE, 0o755)));
    bench.write('second/tool', TRACE, 0o755);
    await expectRefused(bench.run({ argv: ['tool'] }), /would run `.*first\/tool` where `.*second\/tool`/);
  });

  test('the link that it is named by leads elsewhere', async () => {
    bench = await openBench(
      when(() => {
        rmSync(bench.path('first/tool'));
        symlinkSync(bench.path('other'), bench.path('first/tool'));
      }),
    );
    bench.write('one', TRACE, 0o755);
    bench.write('other', TRACE, 0o755);
    symlinkSync(bench.path('one'), bench.path('first/tool'));
    await expectRefused(bench.run({ argv: ['tool'] }), /`.*first\/tool` is another file/);
  });

  test('the link of a folder in the `PATH` leads elsewhere', async () => {
    bench = await openBench(
      when(() => {
        rmSync(bench.first, { recursive: true });
        symlinkSync(bench.path('v2'), bench.first);
      }),
    );
    for (const version of ['v1', 'v2']) {
      mkdirSync(bench.path(version));
      bench.write(`${version}/tool`, TRACE, 0o755);
    }
    rmSync(bench.first, { recursive: true });
    symlinkSync(bench.path('v1'), bench.first);
    await expectRefused(bench.run({ argv: ['tool'] }), /is another file/);
  });

  test('its executable is written to in place, and its times are set back', async () => {
    const then = new Date('2026-01-01T00:00:00Z');
    bench = await openBench(
      when(() => {
        writeFileSync(bench.path('first/tool'), TRACE.replace('>>', '> '));
        utimesSync(bench.path('first/tool'), then, then);
      }),
    );
    utimesSync(bench.write('first/tool', TRACE, 0o755), then, then);
    await expectRefused(bench.run({ argv: ['tool'] }), /is another file/);
  });

  test('its executable is gone', async () => {
    bench = await openBench(when(() => rmSync(bench.path('first/tool'), { force: true })));
    bench.write('first/tool', TRACE, 0o755);
    await expectRefused(bench.run({ argv: ['tool'] }), /no executable of this host any more/);
  });

  test('a script that it names is changed', async () => {
    bench = await openBench(when(() => bench.write('build.sh', `${TRACE}# changed\n`)));
    bench.write('build.sh', TRACE);
    await expectRefused(bench.run({ argv: ['sh', 'build.sh'] }), /`build.sh` is not the one whose digest/);
  });

  test('a script that it names comes to be', async () => {
    bench = await openBench(when(() => bench.write('build.sh', TRACE)));
    await expectRefused(bench.run({ argv: ['sh', 'build.sh'] }), /`build.sh` is not the one whose digest/);
  });

  test('another folder has the name of the one it runs in', async () => {
    bench = await openBench(
      when(() => {
        renameSync(bench.path('work'), bench.path(`work-${bench.peer.received.length}`));
        mkdirSync(bench.path('work'));
      }),
    );
    mkdirSync(bench.path('work'));
    bench.write('first/tool', TRACE, 0o755);
    await expectRefused(bench.run({ argv: ['tool'], cwd: 'work' }), /`.*work` is another file/);
    expect(bench.exists('work/ran')).toBe(false);
  });

  test('its executable is another and its path could not be stated', async () => {
    bench = await openBench(when(() => bench.write('first/tool', `${TRACE}#\n`, 0o755)));
    bench.write('first/tool', TRACE, 0o755);
    await expectRefused(bench.run({ argv: ['tool'], env: { PATH: bench.first } }), /is another file/);
  });

  test('an executable of its shell text is another', async () => {
    bench = await openBench(when(() => bench.write('first/tool', TRACE, 0o755)));
    bench.write('second/tool', TRACE, 0o755);
    await expectRefused(bench.run({ command: 'true | tool' }), /would run/);
  });
});

test('what does not change what runs does not keep it from running', async () => {
  bench = await openBench(
    meanwhile(() => {
      writeFileSync(join(bench.second, 'other'), TRACE);
      bench.write('data.txt', 'new');
    }),
  );
  bench.write('first/tool', TRACE, 0o755);
  bench.write('data.txt', 'old');
  await bench.run({ argv: ['tool', 'data.txt'] });
  expect(bench.read('ran')).toBe('ran\n');
});

test('a `PATH` that this process changes later is not the one of its commands', async () => {
  bench = await openBench(meanwhile(() => (process.env.PATH = bench.path('evil'))));
  mkdirSync(bench.path('evil'));
  bench.write('evil/tool', TRACE.replace('ran', 'evil'), 0o755);
  bench.write('first/tool', TRACE, 0o755);
  await bench.run({ argv: ['tool'] });
  expect(bench.exists('evil-ran')).toBe(false);
  expect(bench.read('ran')).toBe('ran\n');
});

test('a command that policy allows without a person does not run either once its executable is another', async () => {
  bench = await openBench((request, self) => {
    bench.write('first/tool', TRACE, 0o755);
    return allowed(request, self);
  });
  bench.write('second/tool', TRACE, 0o755);
  await expect(bench.run({ argv: ['tool'] })).rejects.toBeInstanceOf(IntegrityError);
  expect(bench.exists('ran')).toBe(false);
  expect(bench.outcomes()).toEqual([]);
});

/** A person edits the command's parameters. */
function editedTo(change: (parameters: Record<string, unknown>) => Record<string, unknown>): Answer {
  const edit = (asked: ToolCall): ToolCall => ({
    ...asked,
    parameters: change(structuredClone(asked.parameters)) as ToolCall['parameters'],
  });
  return ({ method, path }, self) => {
    const call = edit(self.asked);
    if (path.endsWith('/consume')) return { body: consumeAnswer(call) };
    return method === 'GET' ? { body: self.approval(edited(call)) } : undefined;
  };
}

describe('an edited command', () => {
  test('runs as it was edited', async () => {
    bench = await openBench(
      editedTo((parameters) => ({ ...parameters, command: 'tool b', argv: ['tool', 'b'], env: { X: '1' } })),
    );
    bench.write('first/tool', '#!/bin/sh\necho "$1 $X" >> ran\n', 0o755);
    await bench.run({ argv: ['tool', 'a'] });
    expect(bench.read('ran')).toBe('b 1\n');
  });

  test('runs in the folder that it was edited to', async () => {
    bench = await openBench(editedTo((parameters) => ({ ...parameters, cwd: bench.path('second') })));
    bench.write('first/tool', TRACE, 0o755);
    await bench.run({ argv: ['tool'] });
    expect([bench.exists('ran'), bench.exists('second/ran')]).toEqual([false, true]);
  });

  test('may become a shell text, and need not say where its executables are', async () => {
    bench = await openBench(editedTo(({ cwd }) => ({ cwd: cwd as string, command: 'other && tool' })));
    bench.write('first/tool', TRACE, 0o755);
    bench.write('first/other', TRACE, 0o755);
    await bench.run({ argv: ['tool'] });
    expect(bench.read('ran')).toBe('ran\nran\n');
  });

  test.each<[string, (parameters: Record<string, unknown>) => Record<string, unknown>, RegExp]>([
    [
      'whose stated paths are those of the command before',
      (parameters) => ({ ...parameters, command: 'other', argv: ['other'] }),
      /would run `.*other` where `.*tool`/,
    ],
    [
      'whose stated digests are those of another script',
      (parameters) => ({ ...parameters, file_digests: { 'x.sh': '0'.repeat(64) } }),
      /`x.sh` is not the one whose digest/,
    ],
    [
      'that sets a variable by which other code runs',
      (parameters) => ({ ...parameters, env: { LD_PRELOAD: '/evil.so' } }),
      /`LD_PRELOAD` makes other code run/,
    ],
    [
      'with a parameter that is not known',
      (parameters) => ({ ...parameters, stdin: 'rm' }),
      /`stdin` is no param/,
    ],
    [
      'that shows another command than runs',
      (parameters) => ({ ...parameters, argv: ['other'] }),
      /not the quoted form/,
    ],
    [
      'in a folder that is not absolute',
      (parameters) => ({ ...parameters, cwd: '.' }),
      /not an absolute path/,
    ],
    ['without a folder', ({ cwd: _, ...parameters }) => parameters, /not an absolute path/],
    ['whose words are no texts', (parameters) => ({ ...parameters, argv: [1] }), /`argv` is not a list/],
    ['whose words are null', (parameters) => ({ ...parameters, argv: null }), /`argv` is not a list/],
    ['whose environment is a list', (parameters) => ({ ...parameters, env: ['x'] }), /`env` or/],
    [
      'that is not there',
      ({ cwd }) => ({ cwd, command: 'gone', argv: ['gone'] }),
      /`gone` is no executable of this host any more/,
    ],
  ])('%s does not run', async (_, change, reason) => {
    bench = await openBench(editedTo(change));
    bench.write('first/tool', TRACE, 0o755);
    bench.write('first/other', TRACE, 0o755);
    await expectRefused(bench.run({ argv: ['tool'] }), reason);
  });

  test('that says nothing of its files does not run when one that was looked at is another', async () => {
    const change = editedTo(({ resolved_paths: _, ...parameters }) => parameters);
    bench = await openBench((request, self) => {
      if (request.method === 'GET') bench.write('first/tool', `${TRACE}#\n`, 0o755);
      return change(request, self);
    });
    bench.write('first/tool', TRACE, 0o755);
    await expectRefused(bench.run({ argv: ['tool'] }), /is another file/);
  });
});

describe('a pending command', () => {
  const undecided: Answer = ({ method }, self) =>
    method === 'GET' && self.to(self.received.at(-1)?.path ?? '').length < 2
      ? { body: self.approval({ status: 'pending' }) }
      : undefined;

  async function leavePending(input: { argv: string[] }): Promise<PendingError> {
    const error = await bench
      .guard()(input, { waitMs: 0 })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PendingError);
    return error as PendingError;
  }

  test('is taken up by another function, and runs', async () => {
    bench = await openBench(undecided);
    bench.write('build.sh', TRACE);
    const stored = JSON.parse(JSON.stringify(await leavePending({ argv: ['sh', 'build.sh'] })));
    expect(bench.exists('ran')).toBe(false);
    expect(await bench.guard().resume(stored)).toMatchObject({ exitCode: 0 });
    expect(bench.read('ran')).toBe('ran\n');
  });

  test('does not run once a script that it names was changed', async () => {
    bench = await openBench(undecided);
    bench.write('build.sh', TRACE);
    const pending = await leavePending({ argv: ['sh', 'build.sh'] });
    bench.write('build.sh', `${TRACE}#\n`);
    await expectRefused(bench.guard().resume(pending), /`build.sh` is not the one/);
  });

  test('does not run once its executable is elsewhere', async () => {
    bench = await openBench(undecided);
    bench.write('second/tool', TRACE, 0o755);
    const pending = await leavePending({ argv: ['tool'] });
    bench.write('first/tool', TRACE, 0o755);
    await expectRefused(bench.guard().resume(pending), /would run/);
  });
});
