import { describe, expect, test } from 'vitest';
import { isForwarded, isMetricsAllowed } from '../../src/http/metrics_access.ts';

const TOKEN = 'metrics-token';

function isAllowed(peerAddress: string | undefined, headers: Record<string, string>, metricsToken?: string) {
  return isMetricsAllowed({ peerAddress, headers: new Headers(headers), metricsToken });
}

describe('without a token', () => {
  test.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:8080', '127.0.0.2', '[::1]:8080', '[::1]'])(
    'loopback may read, by the host `%s`',
    (host) => {
      expect(isAllowed('127.0.0.1', { host })).toBe(true);
      expect(isAllowed('::1', { host })).toBe(true);
      expect(isAllowed('::ffff:127.0.0.1', { host })).toBe(true);
    },
  );

  test.each(['', 'a.test', 'localhost.a.test', '127.0.0.1.a.test', '10.0.0.1', 'localhost:x', '0.0.0.0'])(
    'loopback may not read by the host `%s`, as a page that rebinds its name would',
    (host) => {
      expect(isAllowed('127.0.0.1', { host })).toBe(false);
    },
  );

  test('another peer may not read, whatever its host header says', () => {
    expect(isAllowed('10.0.0.1', { host: 'localhost' })).toBe(false);
    expect(isAllowed(undefined, { host: 'localhost' })).toBe(false);
  });

  test.each(['X-Forwarded-For', 'x-forwarded-host', 'X-Forwarded', 'Forwarded', 'Via', 'X-Real-IP'])(
    'loopback may not read what was passed on with `%s`',
    (name) => {
      expect(isForwarded(new Headers({ [name]: 'x' }))).toBe(true);
      expect(isAllowed('127.0.0.1', { host: 'localhost', [name]: '127.0.0.1' })).toBe(false);
    },
  );

  test('no token opens what has none configured', () => {
    expect(isAllowed('10.0.0.1', { host: 'a.test', authorization: 'Bearer undefined' })).toBe(false);
    expect(isForwarded(new Headers({ host: 'a', authorization: 'b' }))).toBe(false);
  });
});

describe('with a token', () => {
  test('any peer may read that has it', () => {
    expect(isAllowed('10.0.0.1', { host: 'a.test', authorization: `Bearer ${TOKEN}` }, TOKEN)).toBe(true);
    const forwarded = { host: 'a.test', 'x-forwarded-for': '10.0.0.1', authorization: `bearer ${TOKEN}` };
    expect(isAllowed('127.0.0.1', forwarded, TOKEN)).toBe(true);
  });

  test.each(['', 'Bearer', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN])(
    'another peer may not read with `%s`',
    (authorization) => {
      expect(isAllowed('10.0.0.1', { host: 'a.test', authorization }, TOKEN)).toBe(false);
    },
  );
});
