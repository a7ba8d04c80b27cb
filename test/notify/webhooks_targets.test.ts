import { describe, expect, test } from 'vitest';
import { parseCidr } from '../../src/http/client_address.ts';
import { createAddressGuard, type Network } from '../../src/notify/webhooks/address_guard.ts';
import type { ResolveHost } from '../../src/notify/webhooks/find_addresses.ts';
import { createWebhookTargets } from '../../src/notify/webhooks/targets.ts';

const mayCall = createAddressGuard([]);

describe('an address that is not public is refused:', () => {
  test.each([
    ['loopback', '127.0.0.1'],
    ['loopback, not the first', '127.255.255.254'],
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['private, class A', '10.0.0.1'],
    ['private, class B', '172.16.0.1'],
    ['private, class B, the last', '172.31.255.255'],
    ['private, class C', '192.168.1.1'],
    ['carrier-grade nat', '100.64.0.1'],
    ['link-local', '169.254.0.1'],
    ['metadata of clouds', '169.254.169.254'],
    ['metadata of Alibaba Cloud', '100.100.100.200'],
    ['metadata of Oracle Cloud', '192.0.0.192'],
    ['wire server of Azure', '168.63.129.16'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['benchmarking', '198.18.0.1'],
    ['6to4 relays', '192.88.99.1'],
    ['loopback of v6', '::1'],
    ['unspecified of v6', '::'],
    ['link-local of v6', 'fe80::1'],
    ['link-local of v6 with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['unique local', 'fd00::1'],
    ['unique local', 'fc00::1'],
    ['metadata of AWS by v6', 'fd00:ec2::254'],
    ['multicast of v6', 'ff02::1'],
    ['documentation of v6', '2001:db8::1'],
    ['documentation of v6', '3fff::1'],
    ['discard', '100::1'],
    ['loopback, mapped', '::ffff:127.0.0.1'],
    ['loopback, mapped, in hex', '::ffff:7f00:1'],
    ['private, mapped', '::ffff:10.0.0.1'],
    ['wire server of Azure, mapped', '::ffff:168.63.129.16'],
    ['loopback, compatible', '::127.0.0.1'],
    ['public, compatible', '::8.8.8.8'],
    ['loopback by nat64', '64:ff9b::7f00:1'],
    ['public by nat64', '64:ff9b::808:808'],
    ['local nat64', '64:ff9b:1::1'],
    ['loopback by translation', '::ffff:0:127.0.0.1'],
    ['loopback by 6to4', '2002:7f00:1::'],
    ['private by 6to4', '2002:a00:1::1'],
    ['teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['not yet given out', '4000::1'],
    ['segment routing', '5f00::1'],
    ['no address', 'localhost'],
    ['no address', ''],
  ])('%s (%s)', (_what, address) => {
    expect(mayCall(address)).toBe(false);
  });
});

describe('an address that is public passes:', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '192.169.0.1',
    '::ffff:8.8.8.8',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
  ])('%s', (address) => {
    expect(mayCall(address)).toBe(true);
  });
});

describe('AEGIS_WEBHOOK_ALLOW', () => {
  const allow = (...texts: string[]) =>
    createAddressGuard(
      texts.map((text) => parseCidr(text)).filter((one): one is Network => one !== undefined),
    );

  test('lets its networks pass and no others', () => {
    const guard = allow('10.1.0.0/16', 'fd00:1::/32');
    expect(guard('10.1.2.3')).toBe(true);
    expect(guard('::ffff:10.1.2.3')).toBe(true);
    expect(guard('fd00:1::5')).toBe(true);
    expect(guard('10.2.0.1')).toBe(false);
    expect(guard('127.0.0.1')).toBe(false);
    expect(guard('fd00:2::5')).toBe(false);
    expect(guard('::1')).toBe(false);
    expect(guard('1.1.1.1')).toBe(true);
  });

  test('of v4 lets no translated address of v6 pass', () => {
    expect(allow('127.0.0.0/8')('64:ff9b::7f00:1')).toBe(false);
    expect(allow('127.0.0.0/8')('::127.0.0.1')).toBe(false);
    expect(allow('0.0.0.0/0')('::1')).toBe(false);
  });
});

const resolveTo =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

const mustNotResolve: ResolveHost = async (name) => {
  throw new Error(`\`${name}\` was resolved`);
};

describe('a url is refused whose host, however it is written, is an inner one:', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0177.0.0.01/',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:0001]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://①②⑦.⓪.⓪.①/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1:8443/',
    'http:127.0.0.1',
    'http:\\\\127.0.0.1\\',
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://a.localhost/',
    'http://a.localhost./',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://loc%61lhost/',
  ])('%s', async (url) => {
    const found = await createWebhookTargets(mayCall, mustNotResolve).examine(url);
    expect(found).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/not public/) });
  });

  test.each([
    [['10.0.0.1']],
    [['93.184.216.34', '10.0.0.1']],
    [['2606:4700::1', '::1']],
    [['::ffff:192.168.0.1']],
  ])('a name that leads to %s', async (addresses) => {
    const targets = createWebhookTargets(mayCall, resolveTo(...addresses));
    expect(await targets.examine('https://hooks.example.com/')).toMatchObject({ kind: 'refused' });
  });
});

describe('a url is refused', () => {
  test.each([
    ['ftp://example.com/', /must begin with/],
    ['javascript:alert(1)', /must begin with/],
    ['gopher://127.0.0.1:6379/_', /must begin with/],
    ['//example.com/', /no url/],
    ['http://', /no url/],
    ['http://1.1.1.1.1.1/', /no url/],
    ['http://exa mple.com/', /no url/],
    ['http://256.1.1.1/', /no url/],
    ['https://user@example.com/', /user/],
    ['https://example.com@10.0.0.1/', /user/],
    ['https://example.com/#', /fragment/],
  ])('%s', async (url, reason) => {
    const found = await createWebhookTargets(mayCall, mustNotResolve).examine(url);
    expect(found).toMatchObject({ kind: 'refused', reason: expect.stringMatching(reason) });
  });

  test('whose host has no address', async () => {
    for (const resolveHost of [mustNotResolve, resolveTo()]) {
      const found = await createWebhookTargets(mayCall, resolveHost).examine('https://hooks.example.com/');
      expect(found).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/no address/) });
    }
  });
});

test.each([
  ['https://Hooks.Example.com', 'https://hooks.example.com/'],
  ['https://hooks.example.com:443/a?b=c', 'https://hooks.example.com/a?b=c'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['http://hooks.example.com.:8080/', 'http://hooks.example.com.:8080/'],
])('a url of a public host is stored as it is called: %s', async (url, stored) => {
  const targets = createWebhookTargets(mayCall, resolveTo('93.184.216.34'));
  expect(await targets.examine(url)).toStrictEqual({ kind: 'allowed', url: stored });
});
