import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type CapturedBytes, OutputCapture } from './captured_output.ts';
import type { Environment } from './environment.ts';

export interface ProcessSpec {
  /** Absolute path of the file to execute. */
  file: string;
  /** The words, the one that the process knows itself by first. */
  words: readonly string[];
  cwd: string;
  /** All of it. */
  env: Environment;
  outputBytesMax: number;
  /** From the first signal to end until the one that cannot be ignored, in milliseconds. */
  killGraceMs: number;
  signal: AbortSignal | undefined;
}

/** How a process ended: by itself with a status, or by a signal; neither when an abort could not end it. */
export interface ProcessEnd {
  exitCode: number | null;
  signal: string | null;
  stdout: CapturedBytes;
  stderr: CapturedBytes;
  /** Whether the caller's signal ended it. */
  aborted: boolean;
}

/** How long the output of what a command left running is listened to after the command's own end. */
const DRAIN_MS = 2_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs a file with exactly these words, this folder and this environment, without a shell and without input, in a
 * process group of its own, which an abort ends. Rejects when it could not be started: then nothing ran.
 */
export function runProcess(spec: ProcessSpec): Promise<ProcessEnd> {
  const [argv0, ...args] = spec.words;
  return new Promise((resolve, reject) => {
    const child: Child = spawn(spec.file, args, {
      ...(argv0 === undefined ? {} : { argv0 }),
      cwd: spec.cwd,
      env: { ...spec.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: false,
      detached: true,
    });
    child.once('error', (error) => {
      // Once it was started, only a signal could not be sent, and that changes nothing of its end.
      if (child.pid === undefined) {
        reject(error);
      }
    });
    if (child.pid !== undefined) {
      follow(child, child.pid, spec, resolve);
    }
  });
}

/** The groups that are running: they do not outlive this process where it ends in an orderly way. */
const running = new Set<number>();
process.on('exit', () => {
  for (const pid of running) {
    killGroup(pid, 'SIGKILL');
  }
});

function follow(child: Child, pid: number, spec: ProcessSpec, resolve: (end: ProcessEnd) => void): void {
  const streams = [
    { stream: child.stdout, kept: capture(child.stdout, spec.outputBytesMax) },
    { stream: child.stderr, kept: capture(child.stderr, spec.outputBytesMax) },
  ] as const;
  const timers: NodeJS.Timeout[] = [];
  let aborted = false;
  const stopListening = () => {
    for (const { stream, kept } of streams) {
      if (!stream.readableEnded) {
        kept.cut();
        stream.destroy();
      }
    }
  };
  const settle = (exitCode: number | null, signal: string | null) => {
    running.delete(pid);
    spec.signal?.removeEventListener('abort', abort);
    for (const timer of timers) {
      clearTimeout(timer);
    }
    const [stdout, stderr] = streams;
    resolve({ exitCode, signal, stdout: stdout.kept.end(), stderr: stderr.kept.end(), aborted });
  };
  const abort = () => {
    aborted = true;
    killGroup(pid, 'SIGTERM');
    const kill = () => killGroup(pid, 'SIGKILL');
    // What runs as another user, as after `sudo`, or left the group takes no signal from here: it is not waited for.
    const leave = () => {
      stopListening();
      child.unref();
      settle(child.exitCode, child.signalCode);
    };
    timers.push(setTimeout(kill, spec.killGraceMs), setTimeout(leave, spec.killGraceMs + DRAIN_MS));
  };
  running.add(pid);
  child.once('exit', () => {
    // An abort waits for the whole group.
    if (!aborted) {
      timers.push(setTimeout(stopListening, DRAIN_MS));
    }
  });
  child.once('close', (exitCode, signal) => {
    if (aborted) {
      killGroup(pid, 'SIGKILL');
    }
    settle(exitCode, signal);
  });
  if (spec.signal?.aborted === true) {
    abort();
  } else {
    spec.signal?.addEventListener('abort', abort, { once: true });
  }
}

function capture(stream: Readable, bytesMax: number): OutputCapture {
  const kept = new OutputCapture(bytesMax);
  stream.on('data', (chunk: Uint8Array) => kept.add(chunk));
  // A pipe that breaks ends early; the process has its own end.
  stream.on('error', () => kept.cut());
  return kept;
}

/** A group that is gone already is what was wanted. */
function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it, or it is another user's by now, as after `sudo`.
  }
}
