import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quoteArgv } from '../../../src/core/quote_argv.ts';
import { OutputCapture } from '../src/command/captured_output.ts';
import { readSettings } from '../src/command/command_settings.ts';
import { digestFile } from '../src/command/digest_file.ts';
import { findExecutable } from '../src/command/find_executable.ts';
import { runCommand } from '../src/command/run_command.ts';
import { Aegis, type OutcomeInput } from '../src/index.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'aegis-parts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Any text that an argument can hold, odd characters often. */
const word = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'\'"\\$`*?[]{}()<>|&;~#!=-+ \t\n\r\x7f\u00a0é😀a') }),
  )
  .map((text) => text.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, ''));

test('a shell reads the quoted form as the very words that it stands for', () => {
  // Everything that runs is `printf`, with quoted words after it.
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
      const text = `printf '%s\\0' ${quoteArgv(words)}`;
      const output = execFileSync('/bin/sh', ['-c', text], { encoding: 'utf8' });
      expect(output.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: 300 },
  );
});

describe('the digest of a file', () => {
  test('is that of its bytes, up to 64 MiB', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'abc');
    // FIPS 180-4, appendix of examples.
    const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(await digestFile(path)).toBe(abc);
    truncateSync(path, 64 * 1024 * 1024);
    expect(await digestFile(path)).toMatch(/^[0-9a-f]{64}$/);
    truncateSync(path, 64 * 1024 * 1024 + 1);
    expect(await digestFile(path)).toBeUndefined();
  });

  test('is none for what is no regular file, without waiting for one', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await digestFile(pipe)).toBeUndefined();
    expect(await digestFile(folder)).toBeUndefined();
    expect(await digestFile('/dev/zero')).toBeUndefined();
    expect(await digestFile(join(folder, 'none'))).toBeUndefined();
  });
});

describe('an executable', () => {
  test('is found where `execvp` finds it: an empty or relative part of the `PATH` is of the current folder', async () => {
    writeFileSync(join(folder, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
    const found = join(folder, 'tool');
    for (const path of ['', '/none:', ':/usr/bin', '.', './', `../${folder.split('/').at(-1)}`]) {
      expect([path, await findExecutable('tool', folder, path)]).toEqual([path, found]);
    }
    expect(await findExecutable('./tool', folder, '/usr/bin')).toBe(found);
    expect(await findExecutable('tool', folder, '/usr/bin:/bin')).toBeUndefined();
  });

  test.each(['', '.', '..', '/', './', 'a\0b'])('is never %j', async (name) => {
    expect(await findExecutable(name, folder, '/usr/bin:.')).toBeUndefined();
  });
});

test('a command that is aborted while its host is looked at is not started, and has had no effect', async () => {
  const reason = new Error('stop');
  const outcomes: OutcomeInput[] = [];
  const end = runCommand({
    aegis: new Aegis({ baseUrl: 'http://127.0.0.1:9', key: 'key' }),
    settings: readSettings({}),
    before: null,
    parameters: { command: 'touch started', cwd: folder },
    run: {
      runId: 'apr_1',
      decisionId: 'dec_1',
      approvalId: 'apr_1',
      actionHash: '',
      // Says of its host nothing that could differ.
      edited: true,
      signal: AbortSignal.abort(reason),
      setOutcome: (outcome) => outcomes.push(outcome),
    },
  });
  await expect(end).rejects.toBe(reason);
  expect(existsSync(join(folder, 'started'))).toBe(false);
  expect(outcomes.at(-1)).toMatchObject({ outcome: 'failed', effect: 'none' });
});

describe('what is kept of output', () => {
  const capture = (bytesMax: number, ...chunks: string[]) => {
    const kept = new OutputCapture(bytesMax);
    for (const chunk of chunks) kept.add(Buffer.from(chunk));
    const { bytes, truncated } = kept.end();
    return [Buffer.from(bytes).toString(), truncated];
  };

  test('is all of it up to the limit', () => {
    expect(capture(6, 'abc', 'def')).toEqual(['abcdef', false]);
    expect(capture(0)).toEqual(['', false]);
    expect(capture(0, 'a')).toEqual(['', true]);
  });

  test('ends with the last whole line before a cut', () => {
    expect(capture(6, 'a\nbcd', 'ef\n')).toEqual(['a\n', true]);
    expect(capture(4, 'abc\ndef')).toEqual(['abc\n', true]);
  });

  test('loses no more than 4 KiB to a line without end', () => {
    const [text] = capture(10_000, `short\n${'x'.repeat(20_000)}`);
    expect(text).toBe(`short\n${'x'.repeat(10_000 - 6 - 4096)}`);
    expect(capture(100, 'x'.repeat(200))).toEqual(['', true]);
  });
});
