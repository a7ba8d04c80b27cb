import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { breaksFloor, hitsOf } from './breaks_floor.ts';
import { SAFE } from './commands.ts';

/** Text as one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same words with each letter quoted in one of the ways that a shell takes away again. */
const QUOTES: ((letter: string) => string)[] = [
  (letter) => `'${letter}'`,
  (letter) => `"${letter}"`,
  (letter) => `\\${letter}`,
  (letter) => `$'\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}'`,
  (letter) => `${letter}''`,
  (letter) => `""${letter}`,
  (letter) => letter,
];

function utf16Base64(text: string): string {
  return Buffer.from(text, 'utf16le').toString('base64');
}

/** Ways to have a simple command run by another. */
const BEFORE = [
  ...[
    'sudo',
    'sudo -u root -E',
    'doas',
    'env',
    'env A=b',
    'env -i',
    'nohup',
    'setsid',
    'nice',
    'nice -n 5',
    'time',
  ],
  ...['timeout 5', 'timeout -k 1 5s', 'stdbuf -oL', 'ionice -c3', 'command', 'exec', 'xargs', 'xargs -0 -n1'],
  ...['busybox', 'A=b', 'strace -f', 'chroot /mnt', 'systemd-run', 'caffeinate', '!'],
];
const INSIDE: ((command: string) => string)[] = [
  (command) => `sh -c ${quote(command)}`,
  (command) => `bash -lc ${quote(command)}`,
  (command) => `/bin/zsh -ec ${quote(command)}`,
  (command) => `busybox sh -c ${quote(command)}`,
  (command) => `sudo bash -c ${quote(command)}`,
  (command) => `su -c ${quote(command)}`,
  (command) => `eval ${quote(command)}`,
  (command) => `ssh host ${quote(command)}`,
  (command) => `find . -exec sh -c ${quote(command)} \\;`,
  (command) => `xargs sh -c ${quote(command)}`,
  (command) => `echo ${quote(command)} | sh`,
  (command) => `printf %s ${quote(command)} | bash`,
  (command) => `echo ${Buffer.from(command).toString('base64')} | base64 -d | sh`,
  (command) => `bash <<< ${quote(command)}`,
  (command) => `bash <<'END'\n${command}\nEND`,
  (command) => `bash <(echo ${quote(command)})`,
  (command) => `python3 -c ${quote(`import os; os.system(${JSON.stringify(command)})`)}`,
  (command) => `ls; ${command}`,
  (command) => `ls && ${command}`,
  (command) => `false || ${command}`,
  (command) => `${command} & wait`,
  (command) => `ls\n${command}\nls`,
  (command) => `( ${command} )`,
  (command) => `{ ${command}; }`,
  (command) => `x=$( ${command} )`,
  (command) => `echo "$( ${command} )"`,
  (command) => `cat <( ${command} )`,
  (command) => `if true; then ${command}; fi`,
  (command) => `while sleep 1; do ${command}; done`,
  (command) => `f() { ${command}; }; f`,
  (command) => `ls | ${command}`,
  (command) => `${command} | cat`,
  (command) => `${command} > /dev/null 2>&1`,
];
const WINDOWS: ((command: string) => string)[] = [
  (command) => `cmd /c ${command}`,
  (command) => `powershell -Command "${command}"`,
  (command) => `pwsh -NoProfile -c "${command}"`,
  (command) => `powershell -EncodedCommand ${utf16Base64(command)}`,
];

/** Simple commands without quotes, globs or variables, so that each can be quoted and put anywhere. */
const FLOOR = [
  ...['rm -rf /', 'rm -r -f //', 'rm --recursive --force /etc', 'rm / -rf', 'rm -fr /home', 'find / -delete'],
  ...['dd if=/dev/zero of=/dev/sda', 'mkfs.ext4 /dev/sda1', 'wipefs -a /dev/sda', 'shred /dev/sda'],
  ...[
    'reboot',
    'shutdown -h now',
    'init 0',
    'systemctl poweroff',
    'kill -9 -1',
    'kill -- -1',
    'chmod -R 000 /',
  ],
];
const HARMLESS = [
  ...[
    'ls -la',
    'rm -rf build',
    'rm -rf /tmp/x',
    'git status',
    'echo rm -rf /',
    'dd if=a of=b',
    'kill -9 1234',
  ],
  ...[
    'systemctl status nginx',
    'find . -name x -delete',
    'chmod -R 755 build',
    'git commit -m reboot',
    'cat /dev/sda',
  ],
  ...['grep shutdown log', 'npm run build', 'kill -1 1234'],
];

const before = fc.constantFrom(...BEFORE);
const inside = fc.constantFrom(...INSIDE);
const quoted = (command: string) =>
  fc
    .array(fc.constantFrom(...QUOTES), { minLength: command.length, maxLength: command.length })
    .map((quotes) =>
      [...command].map((letter, at) => (letter === ' ' ? ' ' : quotes[at]?.(letter))).join(''),
    );

function wrap(command: string, prefix: string, around: readonly ((command: string) => string)[]): string {
  return around.reduce((text, one) => one(text), `${prefix} ${command}`);
}

describe('whatever stands around a command', () => {
  test.each(FLOOR)('each wrapper of %s is the floor', (command) => {
    const wrapped = [...BEFORE.map((prefix) => `${prefix} ${command}`), ...INSIDE.map((one) => one(command))];
    expect(wrapped.filter((text) => !breaksFloor({ command: text }))).toEqual([]);
  });

  test.each(FLOOR)('each wrapper of Windows around %s is the floor', (command) => {
    const wrapped = WINDOWS.map((one) => one(command));
    expect(wrapped.filter((text) => !breaksFloor({ command: text }))).toEqual([]);
  });

  test.each(HARMLESS)('no wrapper of %s is the floor', (command) => {
    const wrapped = [
      ...BEFORE.map((prefix) => `${prefix} ${command}`),
      ...[...INSIDE, ...WINDOWS].map((one) => one(command)),
    ];
    expect(wrapped.filter((text) => breaksFloor({ command: text }))).toEqual([]);
  });

  test('a floor command in two wrappers at once is the floor', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FLOOR), before, inside, inside, (command, prefix, first, second) => {
        expect(breaksFloor({ command: wrap(command, prefix, [first, second]) })).toBe(true);
      }),
      { numRuns: 600 },
    );
  });

  test('a harmless command in two wrappers at once is not', () => {
    fc.assert(
      fc.property(fc.constantFrom(...HARMLESS), before, inside, inside, (command, prefix, first, second) => {
        // What follows the end of a here-document on its line leaves it open: no shell reads that.
        fc.pre(!/^END/m.test(first('')) || /\nEND$/m.test(second(first(''))));
        expect(hitsOf({ command: wrap(command, prefix, [first, second]) })).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  test('quoting every character in any way changes nothing', () => {
    const commands = fc
      .constantFrom(...FLOOR)
      .chain((command) => fc.tuple(fc.constant(command), quoted(command)));
    fc.assert(
      fc.property(commands, inside, ([, text], one) => {
        expect(breaksFloor({ command: text })).toBe(true);
        expect(breaksFloor({ command: one(text) })).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('a harmless command beside another is no floor either', () => {
    const alone = SAFE.filter(
      ({ cwd, env, command }) =>
        cwd === undefined && env === undefined && !/[#\n]|^(cd|set|X=|T=)/.test(command),
    );
    for (const { command } of alone)
      expect([command, hitsOf({ command: `ls; ${command}` })]).toEqual([command, []]);
  });
});

describe('any text at all', () => {
  const alphabet = fc.constantFrom(
    ...[
      'rm',
      ' -rf ',
      ' /',
      '~',
      '*',
      '$',
      '{',
      '}',
      '(',
      ')',
      '`',
      '"',
      "'",
      '\\',
      '|',
      '&',
      ';',
      '\n',
      '<<E',
      '<',
    ],
    ...[
      '>',
      '/dev/sda',
      '$(',
      '${',
      'X=',
      ',',
      '..',
      '[',
      ']',
      'sh -c ',
      'eval ',
      'echo ',
      'for x in ',
      'find ',
      '#',
    ],
    ...[
      'xargs ',
      '-exec ',
      '{}',
      ' \\;',
      'cd ',
      'python -c ',
      'base64 -d',
      '\u0000',
      '\uE000',
      '\uD800',
      'f()',
      '!',
    ],
  );

  test('has an answer', () => {
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 60 }), (parts) => {
        expect(Array.isArray(hitsOf({ command: parts.join('') }))).toBe(true);
      }),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (command) => {
        expect(Array.isArray(hitsOf({ command, cwd: command, env: { X: command, HOME: command } }))).toBe(
          true,
        );
      }),
      { numRuns: 500 },
    );
  });

  test('a floor command on a line of its own before it is found, whatever follows', () => {
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 30 }), (parts) => {
        expect(breaksFloor({ command: `rm -rf /\n${parts.join('')}` })).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
