import { expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { createSignalHub } from '../../src/storage/signals.ts';
import { startTcpProxy } from '../support/tcp_proxy.ts';
import { createTestDatabase } from '../support/test_database.ts';

test('a notification whose connection hangs is sent again by another, and heard', async () => {
  const { url, drop } = await createTestDatabase();
  const proxy = await startTcpProxy(url);
  const subject = crypto.randomUUID();
  let sent = 0;
  const database = openDatabase({
    url: proxy.url,
    poolMax: 4,
    onStatement: (text) => {
      if (text.includes('pg_notify')) sent += 1;
    },
  });
  await Promise.all(Array.from({ length: 4 }, () => database.sql`select pg_sleep(0.1)`));
  const hub = createSignalHub(database, url);
  try {
    const subscription = hub.subscribe([subject]);
    await expect.poll(() => sent, { interval: 10 }).toBeGreaterThan(0);
    proxy.freeze();
    hub.publish([subject]);
    const before = sent;
    await expect.poll(() => sent - before, { interval: 20, timeout: 5000 }).toBeGreaterThanOrEqual(2);
    proxy.thaw();
    const thawedAt = performance.now();
    await subscription.next(new Date(Date.now() + 20_000), new AbortController().signal);
    expect(performance.now() - thawedAt).toBeLessThan(3000);
    subscription.close();
  } finally {
    proxy.thaw();
    await hub.close();
    await database.close();
    await proxy.close();
    await drop();
  }
});
