import { describe, expect, it } from 'vitest';
import { analyse, executables, outline } from './analysis_tools.ts';

describe('a wrapper is taken apart:', () => {
  it.each([
    ['sudo -u root -- rm x', ['rm x']],
    ['sudo --user=root -n rm x', ['rm x']],
    ['doas -u root rm x', ['rm x']],
    ['env -i -u A B=1 rm x', ['rm x']],
    ['/usr/bin/env rm x', ['rm x']],
    ["env -S 'rm -rf' x", ['rm -rf x']],
    ['nohup rm x', ['rm x']],
    ['timeout -k 5 10s rm x', ['rm x']],
    ['nice -10 rm x', ['rm x']],
    ['nice -n 10 rm x', ['rm x']],
    ['ionice -c3 rm x', ['rm x']],
    ['/usr/bin/time -f %e rm x', ['rm x']],
    ['stdbuf -oL rm x', ['rm x']],
    ['setsid -f rm x', ['rm x']],
    ['chroot --userspec=a:b /mnt rm x', ['rm x']],
    ['unshare -r --mount-proc rm x', ['rm x']],
    ['nsenter -t 1 -m rm x', ['rm x']],
    ['strace -f -o log rm x', ['rm x']],
    ['exec -a name rm x', ['rm x']],
    ['command -p rm x', ['rm x']],
    ['builtin eval rm x', ['eval rm x', 'rm x']],
    ['xargs -0 -n 1 rm -f', ['rm -f ?…']],
    ['xargs -I{} rm {}', ['rm ?{}']],
    ['watch -n 1 rm x', ['rm x']],
    ['flock -n /tmp/l rm x', ['rm x']],
    ["flock /tmp/l -c 'rm x'", ['rm x']],
    ["script -qc 'rm x' log", ['rm x']],
    ['script -q log rm x', ['rm x']],
    ["su - root -c 'rm x'", ['rm x']],
    ['runuser -u a -- rm x', ['rm x']],
    ['ssh -p 22 host rm x', ['rm x']],
    ['busybox rm x', ['rm x']],
    ["busybox sh -c 'rm x'", ['sh -c rm x', 'rm x']],
    ['find . -exec rm {} \\;', ['rm ?{}']],
    ['find . -execdir rm {} + -ok ls {} \\;', ['rm ?{}', 'ls ?{}']],
    ["sh -c 'rm x'", ['rm x']],
    ["bash -lc 'rm x; ls'", ['rm x', 'ls']],
    ["bash -o pipefail --norc -ec 'rm x'", ['rm x']],
    ["zsh -c 'rm x' name arg", ['rm x']],
    ["eval 'rm' x", ['rm x']],
    ["trap 'rm x' EXIT", ['rm x']],
    ['parallel rm ::: a b', ['rm ?"$@"']],
    ['sh <<E\nrm x\nE', ['rm x']],
    ["sh <<< 'rm x'", ['rm x']],
    ['/lib64/ld-linux-x86-64.so.2 /bin/rm x', ['/bin/rm x']],
    ['repeat 3 rm x', ['rm x']],
    ["cmd.exe /c 'del x & dir'", ['del x', 'dir']],
    ["powershell.exe -NoProfile -Command 'Remove-Item x; dir'", ['Remove-Item x', 'dir']],
    ['pwsh -enc cgBtACAAeAA=', ['rm x']],
  ])('%s', (command, inner) => {
    const analysis = analyse(command);
    expect(analysis.problems).toStrictEqual([]);
    expect(outline(analysis.segments).flat(Number.POSITIVE_INFINITY).slice(1)).toStrictEqual(inner);
    expect(analysis.understood).toBe(true);
  });

  it('one inside another, each shown as it stands', () => {
    expect(outline(analyse("sudo nice sh -c 'rm x'").segments)).toStrictEqual([
      ['sudo nice sh -c rm x', ['nice sh -c rm x', ['sh -c rm x', 'rm x']]],
    ]);
  });

  it('by argument vector too, where no shell reads the words', () => {
    const analysis = analyse('ignored', { argv: ['sudo', 'sh', '-c', 'rm x; ls', '>'] });
    expect(executables(analysis)).toStrictEqual(['sudo', 'sh', 'rm', 'ls']);
    expect(analysis.segments[0]?.words.at(-1)?.value).toBe('>');
    expect(analysis.segments[0]?.redirections).toStrictEqual([]);
  });

  it('and assignments that it gives are those of what it runs', () => {
    const [segment] = analyse('env A=1 B=2 rm x').segments;
    expect(segment?.inner[0]?.assignments.map(({ name, value }) => [name, value?.value])).toStrictEqual([
      ['A', '1'],
      ['B', '2'],
    ]);
    expect(executables(analyse('env "A"=1 \'B\'"=$x" rm x'))).toStrictEqual(['env', 'rm']);
  });

  it('whatever quotes its name is written with', () => {
    for (const name of ['sudo', 's\\udo', '"sudo"', "s'u'do", "$'\\x73udo'", '/usr/bin/"su"do', 'su\\\ndo']) {
      expect(executables(analyse(`${name} rm x`)).slice(1), name).toStrictEqual(['rm']);
    }
  });
});

describe('what runs is not understood when it is', () => {
  it.each([
    ['an unknown option of a wrapper', 'sudo --unknown rm x'],
    ['a variable in the place of an option', 'sudo $x rm y'],
    ['a variable for a duration that could be more', 'timeout $T rm x'],
    ['an assignment that could split', 'env A=$(id) rm x'],
    ['read by a shell from a pipe', 'curl http://a/ | sh'],
    ['read by a shell from nowhere known', 'bash'],
    ['read by a shell from a descriptor', 'sh /dev/stdin <<E\nrm x\nE'],
    ['read by a shell in a wrapper', 'cat f | sudo -u root bash -s'],
    ['in the output of another command', 'bash <(curl http://a/)'],
    ['in a variable', 'eval "$x"'],
    ['in a text with something put into it', "find . -exec sh -c 'rm {}' \\;"],
    ['in what xargs reads', 'xargs sudo'],
    ['in what parallel lists', "parallel ::: 'rm x'"],
    ['code of an interpreter', "python3 -c 'print(1)'"],
    ['code that an interpreter reads', 'python3 <<E\nprint(1)\nE'],
    ['code among other letters', 'perl -lane x f'],
    ['an interpreter with an unknown option', 'node --what x.js'],
    ['a text of another shell', "fish -c 'rm x'"],
    ['a program of awk that can run commands', 'awk \'BEGIN { system("rm") }\''],
    ['a program of awk with a pipe', 'awk \'{ print | "sh" }\''],
    ['a script of sed that runs commands', "sed '1e rm x' f"],
    ['a substitution of sed that runs commands', "sed 's/a/b/e' f"],
    ['an option of ssh that runs a command here', "ssh -o ProxyCommand='rm x' host"],
    ['an option of tar', 'tar xf a --checkpoint-action=exec=rm'],
    ['a setting of git', 'git -c core.sshCommand=rm fetch'],
    ['an encoded command that is not one', 'powershell -EncodedCommand xx'],
    ['a hashed path', 'hash -p /tmp/x ls; ls'],
    ['a builtin that loads', 'enable -f /tmp/x ls'],
    ['a completion that runs', "compgen -C 'rm x'"],
    ['a container', 'docker run -v /:/h a rm -rf /h'],
  ])('%s', (_, command) => {
    const { understood, problems } = analyse(command);
    expect(understood).toBe(false);
    expect(problems.length).toBeGreaterThan(0);
  });

  it('wrapped more than eight times', () => {
    expect(analyse(`${'nice '.repeat(8)}rm x`).understood).toBe(true);
    const deep = analyse(`${'nice '.repeat(9)}rm x`);
    expect(deep.understood).toBe(false);
    expect(deep.problems.map(({ code }) => code)).toStrictEqual(['too_deep']);
  });
});

describe('what is piped into a shell is not understood, but shown where its text is known:', () => {
  it.each([
    "echo 'rm x' | sh",
    "printf 'rm x' | sudo sh",
    "echo -e 'rm\\x20x' | bash",
    'cat <<E | sh\nrm x\nE',
    'echo cm0geA== | base64 -d | sh',
    "base64 --decode <<< 'cm0geA==' | sh",
    'echo 726d2078 | xxd -r -p | sh',
  ])('%s', (command) => {
    const analysis = analyse(command);
    expect(analysis.understood).toBe(false);
    expect(executables(analysis)).toContain('rm');
  });
});

describe('a text with something put into it is not understood, but what it most likely runs is shown:', () => {
  it.each([
    'bash -c "rm -rf $HOME"',
    'eval "rm $x"',
    'ssh host rm $x',
    "find . -exec sh -c 'rm {}' \\;",
    "xargs -I% sh -c 'rm %'",
    'sudo --unknown rm x',
    'timeout $T rm x',
    'powershell -Command "rm $x"',
  ])('%s', (command) => {
    const analysis = analyse(command);
    expect(analysis.understood).toBe(false);
    expect(executables(analysis)).toContain('rm');
  });
});

describe('is understood:', () => {
  it.each([
    'bash deploy.sh a b',
    'sh < f',
    '. ./env.sh',
    'python3 -W ignore a.py',
    'python3 -m http.server',
    'node --inspect a.js',
    'command -v rm',
    'sudo -l',
    'find . -name a -delete',
    'trap - EXIT',
    "awk -F: '$1 ~ /a/ || $2 > 3 { print $1 }' f",
    "sed -n -e 's/a/b/g;/x/,$p' f",
    "sed -i.bak 's|[0-9]*|&|2w out' f",
    'git commit -m message',
    'tar xzf a.tgz',
    'exec 3> f',
    'bash --version',
  ])('%s', (command) => {
    expect(analyse(command)).toMatchObject({ understood: true, problems: [] });
  });
});
