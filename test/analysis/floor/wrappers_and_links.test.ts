import { describe, expect, test } from 'vitest';
import { hitsOf } from './breaks_floor.ts';

const rulesOf = (command: string) => hitsOf({ command }).map(({ rule }) => rule);

describe('the floor is found', () => {
  test.each([
    'run0 rm -rf /',
    "env 'x%%=1' rm -rf /",
    "sudo 'a-b=1' sh -c 'rm -rf /'",
    "echo 'rm -rf /' | at -qf now",
    'sshpass -p x rm -rf /',
    'perf stat rm -rf /',
    'ip netns exec x rm -rf /',
    'machinectl shell root@ /bin/rm -rf /',
    'systemd-nspawn -D / rm -rf /',
    'snap run x rm -rf /',
    'flatpak-spawn --host rm -rf /',
    'toolbox run rm -rf /',
    'distrobox enter x -- rm -rf /',
    'cmake -E rm -rf /',
    'cmake -E env rm -rf /',
    'rm -rf /proc/self/root/*',
    'rm -rf /proc/1/root',
    'rm -rf /proc/thread-self/root/etc',
    'rm -rf /proc/self/root/../home',
  ])('behind a runner, or where a link leads to the root: %s', (command) => {
    expect(rulesOf(command).some((rule) => rule.startsWith('recursive-delete'))).toBe(true);
  });

  test.each(['scrub /dev/sda', 'fallocate -z -l 1G /dev/sda'])(
    'in what overwrites a device: %s',
    (command) => {
      expect(rulesOf(command)).toEqual(['raw-device-write']);
    },
  );
});

test.each([
  'ip link set eth0 down',
  'perf report',
  'snap install x',
  'cmake --build build --target install',
  'machinectl list',
  'run0 ls /',
  'rm -rf /proc/self/root/tmp/x',
  'cat /proc/self/root/etc/hosts',
  'fallocate -l 1G swap.img',
  'scrub key.pem',
])('an ordinary use is left to policy: %s', (command) => {
  expect(rulesOf(command)).toEqual([]);
});
