import { describe, expect, test } from 'vitest';
import { type Cidr, clientAddress, isLoopbackAddress, parseCidr } from '../../src/http/client_address.ts';

function networks(...texts: string[]): Cidr[] {
  return texts.map((text) => parseCidr(text) as Cidr);
}

describe('the client of a request', () => {
  test('without trusted networks is the peer, whatever is forwarded', () => {
    expect(clientAddress('192.0.2.1', '198.51.100.1', [])).toBe('192.0.2.1');
    expect(clientAddress('127.0.0.1', '198.51.100.1', [])).toBe('127.0.0.1');
  });

  test('is the peer when that is not trusted, whatever it forwards', () => {
    expect(clientAddress('192.0.2.1', '198.51.100.1', networks('10.0.0.0/8'))).toBe('192.0.2.1');
  });

  test('behind trusted proxies is the right-most address that is none of them', () => {
    const trusted = networks('10.0.0.0/8', 'fd00::/8');
    const forwarded = '203.0.113.9, 198.51.100.1 ,10.1.1.1, fd00::1';
    expect(clientAddress('10.0.0.1', forwarded, trusted)).toBe('198.51.100.1');
    expect(clientAddress('10.0.0.1', '198.51.100.1', trusted)).toBe('198.51.100.1');
  });

  test('is the left-most address when all of them are trusted, and the peer when none is forwarded', () => {
    const trusted = networks('10.0.0.0/8');
    expect(clientAddress('10.0.0.1', '10.0.0.3, 10.0.0.2', trusted)).toBe('10.0.0.3');
    expect(clientAddress('10.0.0.1', undefined, trusted)).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', '', trusted)).toBe('10.0.0.1');
  });

  test.each([
    'unknown',
    '_hidden',
    '1.2.3',
    '0x7f.1',
    '1.2.3.4.5',
    '256.1.1.1',
    'a.test',
    '[::1',
    '1.2.3.4 5',
  ])('ends at the trusted hop that forwarded `%s`, which is no address', (garbage) => {
    const trusted = networks('10.0.0.0/8');
    expect(clientAddress('10.0.0.1', `198.51.100.1, ${garbage}`, trusted)).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', `198.51.100.1, ${garbage}, 10.0.0.2`, trusted)).toBe('10.0.0.2');
  });

  test('counts the same with and without a port, and mapped into ipv6', () => {
    const trusted = networks('10.0.0.0/8');
    expect(clientAddress('::ffff:10.0.0.1', '198.51.100.1:4711', trusted)).toBe('198.51.100.1');
    expect(clientAddress('::ffff:198.51.100.1', undefined, [])).toBe('198.51.100.1');
    expect(clientAddress('10.0.0.1', '[2001:db8::1]:4711', trusted)).toBe('2001:db8::/64');
    expect(clientAddress('10.0.0.1', '2001:db8::1', networks('::ffff:10.0.0.0/104'))).toBe('2001:db8::/64');
  });

  test('of ipv6 counts as its /64', () => {
    expect(clientAddress('2001:db8:1:2:3:4:5:6', undefined, [])).toBe('2001:db8:1:2::/64');
    expect(clientAddress('2001:db8:1:2:ffff::1', undefined, [])).toBe('2001:db8:1:2::/64');
    expect(clientAddress('2001:db8:1:3::1', undefined, [])).toBe('2001:db8:1:3::/64');
    expect(clientAddress('fe80::1%eth0', undefined, [])).toBe('fe80::/64');
  });

  test('is one constant when the peer has no address', () => {
    expect(clientAddress(undefined, '198.51.100.1', networks('0.0.0.0/0'))).toBe('unknown');
  });
});

describe('a network', () => {
  test('is an address with or without a prefix length', () => {
    expect(clientAddress('10.0.0.1', '192.0.2.1', networks('10.0.0.1'))).toBe('192.0.2.1');
    expect(clientAddress('10.0.0.2', '192.0.2.1', networks('10.0.0.1'))).toBe('10.0.0.2');
    expect(clientAddress('10.9.9.9', '192.0.2.1', networks('10.0.0.1/8'))).toBe('192.0.2.1');
  });

  test.each([
    '',
    'a',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10/8',
    '::/129',
    '1.2.3.4:5',
  ])('`%s` is none', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });
});

test('loopback is 127.0.0.0/8 and ::1 in every form, and nothing else', () => {
  for (const text of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '[::1]']) {
    expect(isLoopbackAddress(text)).toBe(true);
  }
  for (const text of ['', '0.0.0.0', '::', '10.0.0.1', 'localhost', '128.0.0.1', '::ffff:10.0.0.1']) {
    expect(isLoopbackAddress(text)).toBe(false);
  }
});
