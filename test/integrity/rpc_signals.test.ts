import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { approvalsSubject } from '../../src/core/asker_ports.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createSignalHub } from '../../src/storage/signals.ts';
import { createTestDatabase } from '../support/test_database.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase({ url: testDatabase.url, poolMax: 2 });
const hub = createSignalHub(database, testDatabase.url);
afterAll(async () => {
  await hub.close();
  await database.close();
  await testDatabase.drop();
});

test('subjects of any length and number are all heard, in as many notifications as they need', async () => {
  await expect.poll(() => hub.isListening(), { timeout: 10_000 }).toBe(true);
  const subjects = Array.from({ length: 600 }, () =>
    approvalsSubject(`tenant-${randomUUID()}-${'x'.repeat(19)}`),
  );
  expect(new Set(subjects.map(({ length }) => length))).toEqual(new Set(['approvals:'.length + 63]));
  const heard = subjects.map((subject) => hub.subscribe([subject]));
  const until = new Date(Date.now() + 20_000);
  const all = Promise.all(
    heard.map((subscription) => subscription.next(until, new AbortController().signal)),
  );
  hub.publish(subjects);
  await all;
  expect(Date.now()).toBeLessThan(until.getTime());
  for (const subscription of heard) subscription.close();
});
