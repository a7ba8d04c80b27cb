import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { CompileThread, type CompileThreadOptions, JobTimeout } from '../../src/policy/compile_thread.ts';

/** Does what a text says, and else answers with the number of its thread. */
const WORKER = `
import { parentPort, threadId } from 'node:worker_threads';
parentPort.on('message', ({ input }) => {
  if (input === 'hang') for (;;);
  if (input === 'crash') throw new Error('a crash');
  if (input === 'leave') process.exit();
  if (input === 'fail') parentPort.postMessage({ kind: 'failed', message: 'no such folder', code: 'ENOENT' });
  else parentPort.postMessage({ kind: 'done', output: threadId });
});
`;

const folder = mkdtempSync(join(tmpdir(), 'aegis-thread-'));
const workerPath = join(folder, 'worker.mjs');
writeFileSync(workerPath, WORKER);
afterAll(() => rmSync(folder, { recursive: true }));

const threads: CompileThread[] = [];
afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.end()));
});

function startThread(options: Partial<CompileThreadOptions> = {}): CompileThread {
  const thread = new CompileThread({ workerPath, deadlineMs: 30_000, idleMs: 30_000, ...options });
  threads.push(thread);
  return thread;
}

describe('a job', () => {
  test('finds the thread of the job before it', async () => {
    const thread = startThread();

    const first = await thread.run('splitText', 'a');

    expect(await thread.run('splitText', 'b')).toBe(first);
  });

  test.each(['crash', 'leave'])(
    'that ends its thread (%s) fails, and the next one gets another',
    async (text) => {
      const thread = startThread();
      const first = await thread.run('splitText', 'a');

      await expect(thread.run('splitText', text)).rejects.toThrow('the compile thread');

      expect(await thread.run('splitText', 'b')).not.toBe(first);
    },
  );

  test('that hangs is given up after its deadline, and the next one gets another thread', async () => {
    const thread = startThread({ deadlineMs: 1_000 });
    const first = await thread.run('splitText', 'a');

    await expect(thread.run('splitText', 'hang')).rejects.toThrow(JobTimeout);

    expect(await thread.run('splitText', 'b')).not.toBe(first);
  });

  test('that fails on its own keeps its thread, and its code', async () => {
    const thread = startThread();
    const first = await thread.run('splitText', 'a');

    await expect(thread.run('splitText', 'fail')).rejects.toMatchObject({
      message: 'no such folder',
      code: 'ENOENT',
    });

    expect(await thread.run('splitText', 'b')).toBe(first);
  });

  test('of which the thread is ended meanwhile fails', async () => {
    const thread = startThread();
    const hanging = thread.run('splitText', 'hang');

    await Promise.all([expect(hanging).rejects.toThrow('the compile thread'), thread.end()]);
  });

  test('without a file to run fails', async () => {
    const thread = startThread({ workerPath: join(folder, 'missing.mjs') });

    await expect(thread.run('splitText', 'a')).rejects.toThrow('the compile thread');
  });
});

test('an idle thread is ended, so that its memory is free again', async () => {
  const thread = startThread({ idleMs: 0 });
  const first = await thread.run('splitText', 'a');

  await vi.waitFor(async () => expect(await thread.run('splitText', 'b')).not.toBe(first));
});
