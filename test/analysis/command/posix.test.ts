// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expansions of the shell look like those of templates
import { describe, expect, it } from 'vitest';
import type { Piece, Word } from '../../../src/analysis/command/analysis.ts';
import { parsePosix } from '../../../src/analysis/command/posix/parse_posix.ts';
import { analyse, executables } from './analysis_tools.ts';

function argument(text: string): Word | undefined {
  return parsePosix(`echo ${text}`).segments[0]?.words[1];
}

describe('a word', () => {
  it.each<[string, string | null, Piece[]]>([
    [
      'a\\ b',
      'a b',
      [
        { kind: 'literal', text: 'a', quoted: false },
        { kind: 'literal', text: ' ', quoted: true },
        { kind: 'literal', text: 'b', quoted: false },
      ],
    ],
    ["'*'", '*', [{ kind: 'literal', text: '*', quoted: true }]],
    ["$'a\\tb'", 'a\tb', [{ kind: 'literal', text: 'a\tb', quoted: true }]],
    ['""', '', [{ kind: 'literal', text: '', quoted: true }]],
    ['"\\$x\\a"', '$x\\a', [{ kind: 'literal', text: '$x\\a', quoted: true }]],
    ['*', null, [{ kind: 'glob', text: '*' }]],
    ['[ab]', null, [{ kind: 'glob', text: '[ab]' }]],
    [
      '~/x',
      null,
      [
        { kind: 'tilde', user: '' },
        { kind: 'literal', text: '/x', quoted: false },
      ],
    ],
    ['~root', null, [{ kind: 'tilde', user: 'root' }]],
    ['"~"', '~', [{ kind: 'literal', text: '~', quoted: true }]],
    [
      '~"x"',
      '~x',
      [
        { kind: 'literal', text: '~', quoted: false },
        { kind: 'literal', text: 'x', quoted: true },
      ],
    ],
    [
      'of=~/x',
      null,
      [
        { kind: 'literal', text: 'of=', quoted: false },
        { kind: 'tilde', user: '' },
        { kind: 'literal', text: '/x', quoted: false },
      ],
    ],
    ['$x', null, [{ kind: 'variable', name: 'x', plain: true, text: '$x', quoted: false }]],
    ['"${x}"', null, [{ kind: 'variable', name: 'x', plain: true, text: '${x}', quoted: true }]],
    ['${x:-y}', null, [{ kind: 'variable', name: 'x', plain: false, text: '${x:-y}', quoted: false }]],
    ['{a,b}', null, [{ kind: 'dynamic', text: '{a,b}' }]],
    ['$(id)', null, [{ kind: 'dynamic', text: '$(id)' }]],
  ])('%s is taken apart', (text, value, pieces) => {
    expect(argument(text)).toStrictEqual({ text, value, pieces });
  });
});

describe('every command is found in', () => {
  it.each([
    ['a list', 'rm x; ls & pwd\nid'],
    ['a pipeline', 'ls | rm x |& cat'],
    ['a chain', 'a && rm x || b'],
    ['a group', '{ rm x; }'],
    ['a subshell', '(rm x)'],
    ['a condition', 'if a; then b; elif rm x; then c; else d; fi'],
    ['a loop', 'for i in 1; do rm x; done; while a; do b; done; until a; do b; done'],
    ['a case', 'case $(rm x) in $(a)) b ;; esac'],
    ['a function', 'f() { rm x; }'],
    ['a substitution', 'echo "$(rm x)"'],
    ['backticks inside backticks', 'echo `a \\`rm x\\``'],
    ['a process substitution', 'diff <(rm x) >(a)'],
    ['the operand of an expansion', 'echo ${a:-$(rm x)} ${b/$(c)/`d`}'],
    ['arithmetic', 'echo $((1 + $(rm x))) $[ $(a) ]'],
    ['an assignment', 'a=$(rm x)'],
    ['an array', 'a=(1 $(rm x)) b[$(c)]=1'],
    ['a here-document', 'cat <<E\n$(rm x)\nE'],
    ['a here-string', 'cat <<< $(rm x)'],
    ['the target of a redirection', 'ls > $(rm x)'],
    ['a test', '[[ -f $(rm x) ]]'],
    ['an extended glob', 'ls @(a|$(rm x))'],
    ['a brace expansion', 'ls {a,$(rm x)}'],
    ['a coprocess', 'coproc rm x'],
    ['a timed pipeline', 'time -p rm x'],
    ['a subscript', 'echo ${a[$(rm x)]}'],
    ['what another shell takes for subshells', '((rm x))'],
  ])('%s', (_, text) => {
    expect(executables(parsePosix(text))).toContain('rm');
  });

  it('a text that cannot be read to its end', () => {
    const analysis = parsePosix("rm -rf / ; echo 'x");
    expect(analysis.understood).toBe(false);
    expect(executables(analysis)).toContain('rm');
  });
});

describe('no command is found in', () => {
  it.each([
    ['single quotes', "echo '$(rm x) `rm x`; rm x'"],
    ['escapes', 'echo \\$\\(rm x\\) \\; rm'],
    ['a comment', 'echo a # ; rm x'],
    ['a here-document with a quoted delimiter', "cat <<'E'\n$(rm x)\nE"],
    ['an escaped substitution of a here-document', 'cat <<E\n\\$(rm x)\nE'],
  ])('%s', (_, text) => {
    const analysis = parsePosix(text);
    expect(analysis.understood).toBe(true);
    expect(analysis.segments).toHaveLength(1);
  });
});

describe('is not understood, as shells differ or something is hidden:', () => {
  it.each([
    ['a name in a variable', '$x y'],
    ['a name in braces', '{rm,-rf} x'],
    ['a name with a glob', './*.sh'],
    ['a name with a tilde', '~/bin/x'],
    ['an empty name', '"" x'],
    ['a name that zsh expands', '=rm x'],
    ['arithmetic that is subshells elsewhere', '((reboot))'],
    ['a test that is commands elsewhere', '[[ a || reboot ]]'],
    ['a test over lines', '[[ -n\nreboot ]]'],
    ['a redirection that is a separator elsewhere', 'echo &> /dev/null reboot'],
    ['a quote that ends earlier elsewhere', "echo $'\\'; reboot; #'"],
    ['a glob that runs code elsewhere', "ls *(e:'reboot':)"],
    ['an option after the reserved word time', 'time -f %e rm x'],
    ['a function that has the name of a command', 'ls() { rm x; }; ls'],
    ['an alias that is used', "alias ls='rm -rf'; ls /"],
    ['a search path', 'PATH=/tmp ls'],
    ['a preloaded library', 'LD_PRELOAD=./x.so ls'],
    ['a start file', 'BASH_ENV=x bash y.sh'],
    ['a field separator', 'IFS=x; cmd'],
    ['a prompt that runs', "PS4='$(rm x)'; set -x; ls"],
    ['a search path that is read', 'read PATH < f; ls'],
    ['a search path of a loop', 'for PATH in /tmp; do ls; done'],
    ['arithmetic on a text', "x='a[$(rm y)]'; echo $((x))"],
    ['a subscript that is evaluated', "test -v 'a[$(rm y)]'"],
    ['an expansion as a prompt', 'echo ${x@P}'],
    ['indirection', 'echo ${!x}'],
    ['a carriage return', 'ls\rrm x'],
    ['a null character', 'ls \0'],
    ['a lone surrogate', 'ls \ud800'],
    ['a here-document without an end', 'cat <<E\nx'],
    ['a syntax error', 'ls &&'],
    ['deep nesting', `echo ${'$('.repeat(40)}a${')'.repeat(40)}`],
    ['nesting that overflows the parser', '('.repeat(20_000)],
    ['too much text', `echo ${'a'.repeat(262_144)}`],
  ])('%s', (_, text) => {
    const { understood, problems } = analyse(text);
    expect(understood).toBe(false);
    expect(problems).not.toStrictEqual([]);
  });

  it('an environment of the call that changes what runs', () => {
    expect(analyse('ls', { env: { LD_PRELOAD: 'x' } }).understood).toBe(false);
    expect(analyse('ls', { env: { LANG: 'C' } }).understood).toBe(true);
  });
});

describe('a segment', () => {
  it('has what joins it to the one before it in its list', () => {
    const { segments } = parsePosix('a & b; c\nd | (e && f) |& g');
    expect(segments.map(({ words, operator }) => [words[0]?.value, operator])).toStrictEqual([
      ['a', null],
      ['b', '&'],
      ['c', ';'],
      ['d', '\n'],
      ['e', '|'],
      ['f', '&&'],
      ['g', '|&'],
    ]);
  });

  it('has its redirections, and those of a group are a segment that runs nothing', () => {
    const { segments } = parsePosix('{ a 2>&1 <<-E 3<b; } > /dev/sda\n\tx\n\tE\n');
    expect(
      segments.map(({ words, redirections }) => [
        words.length,
        redirections.map(({ operator, target, body }) => [operator, target?.value ?? body]),
      ]),
    ).toStrictEqual([
      [
        1,
        [
          ['>&', '1'],
          ['<<-', 'x\n'],
          ['3<', 'b'],
        ],
      ],
      [0, [['>', '/dev/sda']]],
    ]);
  });

  it('has its assignments', () => {
    const { segments, constructs } = parsePosix('A=1 B=(1 2) cmd; export C=$x');
    expect(
      segments.map(({ assignments }) => assignments.map(({ name, text }) => [name, text])),
    ).toStrictEqual([
      [
        ['A', 'A=1'],
        ['B', 'B=(1 2)'],
      ],
      [['C', 'C=$x']],
    ]);
    expect(constructs).toContain('assignment');
  });
});

describe('the constructs', () => {
  it.each([
    ['a > b', ['redirection']],
    ['a <<E\nE', ['redirection', 'here_document', 'newline']],
    ['a $(b)', ['command_substitution']],
    ['a <(b)', ['process_substitution']],
    ['a $b', ['parameter_expansion']],
    ['a $((1))', ['arithmetic_expansion']],
    ['a {b,c}', ['brace_expansion']],
    ['a *', ['glob']],
    ['a ~', ['tilde']],
    ['a=b', ['assignment']],
    ['(a)', ['subshell']],
    ['{ a; }', ['group']],
    ['if a; then b; fi', ['control_flow']],
    ['f() (a)', ['function', 'subshell']],
    ['a &', ['background']],
    ['a\nb', ['newline']],
    ['a # b', ['comment']],
    ['! a', ['negation']],
    ['a | b && c || d; e', []],
    ['a "b\nc" \\\n d', []],
  ])('%s', (text, constructs) => {
    expect(parsePosix(text).constructs.toSorted()).toStrictEqual(constructs.toSorted());
  });
});
