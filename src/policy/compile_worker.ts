import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Compilation } from './compile.ts';
import { createCompileJobs } from './compile_jobs.ts';
import type { JobAnswer, JobMessage } from './compile_thread.ts';
import { buffersOf } from './packed_policies.ts';

// The file that the compile thread runs; `npm run build` makes it `dist/compile_worker.js`.

const jobs = createCompileJobs();

async function run({ name, input }: JobMessage): Promise<JobAnswer> {
  try {
    // Name and input belong together by the type of who sends them.
    return { kind: 'done', output: await (jobs[name] as (input: unknown) => unknown)(input) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { kind: 'failed', message: String(message), code };
  }
}

/** What is handed over instead of copied. */
function transferred({ name }: JobMessage, answer: JobAnswer): ArrayBuffer[] {
  if (name !== 'compile' || answer.kind !== 'done') return [];
  const compilation = answer.output as Compilation;
  return compilation.kind === 'compiled' ? buffersOf(compilation.compiled.policies) : [];
}

function serve(port: MessagePort): void {
  port.on('message', (message: JobMessage) => {
    void run(message).then((answer) => port.postMessage(answer, transferred(message, answer)));
  });
}

if (parentPort === null) throw new Error('this file is for a worker thread');
serve(parentPort);
