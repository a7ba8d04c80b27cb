import { expect, test } from 'vitest';
import { createMasker } from '../../src/analysis/secrets/masker.ts';
import { maskLog } from '../../src/cli/mask_log.ts';
import type { ServiceLog } from '../../src/cli/service_log.ts';

const SECRET = 'hunter2a-zebra';

function openLog() {
  const lines: { fields: object; message: string }[] = [];
  const note = (fields: object, message: string) => {
    lines.push({ fields, message });
  };
  const log: ServiceLog = { info: note, warn: note, error: note };
  return { log: maskLog(log, createMasker('a key')), lines };
}

test('a line of the log has no secret in its words, in an error, or in what an error quotes', () => {
  const { log, lines } = openLog();
  const cause = Object.assign(new TypeError(`no password="${SECRET}"`), {
    parameters: [`secret: "${SECRET}"`, `password=${SECRET}`],
  });
  log.error(
    { err: new Error(`failed with password=${SECRET}`, { cause }), request_id: 'req_1' },
    'it failed',
  );
  log.info({}, `at postgres://aegis:${SECRET}@db.example/aegis`);

  const texts = lines.map(({ fields, message }) => {
    const { err } = fields as { err?: Error };
    return [message, err?.message, err?.stack, JSON.stringify(err?.cause), String(err?.cause)].join();
  });
  expect(texts.join()).toContain('(secret ');
  expect(texts.join()).not.toContain(SECRET);
});

test('an error in the log is still one of its kind, with where it happened', () => {
  const { log, lines } = openLog();
  const error = new RangeError('too far');
  log.warn({ err: error }, 'a warning');

  const { err } = (lines[0]?.fields ?? {}) as { err: Error };
  expect(err).toBeInstanceOf(RangeError);
  expect(err.message).toBe('too far');
  expect(err.stack).toBe(error.stack);
});

test('what refers to itself ends', () => {
  const { log, lines } = openLog();
  const error = new Error('round');
  log.error({ err: Object.assign(error, { cause: error }) }, 'a circle');
  expect(lines).toHaveLength(1);
});
