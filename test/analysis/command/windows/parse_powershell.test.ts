import { describe, expect, it } from 'vitest';
import { parsePowerShell } from '../../../../src/analysis/command/windows/parse_powershell.ts';
import { codes, words } from './support.ts';

describe('PowerShell splits', () => {
  it.each<[string, string, (string | null)[][], (string | null)[]]>([
    ['a chain', 'a; b && c || d | e', [['a'], ['b'], ['c'], ['d'], ['e']], [null, ';', '&&', '||', '|']],
    ['what runs in the background', 'a & b', [['a'], ['b']], [null, '&']],
    ['lines, but not behind a pipe', 'a |\n b\nc', [['a'], ['b'], ['c']], [null, '|', '\n']],
    ['no line before a pipe', 'a\n  | b', [['a'], ['b']], [null, '|']],
    ['no line that a backtick joins', 'a `\n b', [['a', 'b']], [null]],
    ['nothing at a quoted operator', 'a \'b; c\' "d | e"', [['a', 'b; c', 'd | e']], [null]],
    ['nothing at an escaped operator', 'a b`;c', [['a', 'b;c']], [null]],
    ['backticks out of a name', 'Rem`ove-Ite`m x', [['Remove-Item', 'x']], [null]],
    ['doubled quotes into one', 'a \'b\'\'c\' "d""e"', [['a', "b'c", 'd"e']], [null]],
    ['typographic quotes as plain ones', 'a \u2018b c\u2019 \u201cd e\u201d', [['a', 'b c', 'd e']], [null]],
    ['comments away', 'a <# b #> c # d\ne', [['a', 'c'], ['e']], [null, '\n']],
    ['lists into words', 'a b, c,d', [['a', 'b', 'c', 'd']], [null]],
    [
      'a called name from its operator',
      "& 'C:\\a b.exe' c; . .\\d.ps1",
      [['C:\\a b.exe', 'c'], ['.\\d.ps1']],
      [null, ';'],
    ],
    [
      'both branches',
      'if (a) { b } elseif (c) { d } else { e }',
      [['a'], ['b'], ['c'], ['d'], ['e']],
      [null, null, null, null, null],
    ],
    ['a name that starts with a digit from a number', '7z x; 5 + 3', [['7z', 'x'], []], [null, ';']],
  ])('%s', (_, text, expected, operators) => {
    const analysis = parsePowerShell(text);
    expect(words(analysis)).toStrictEqual(expected);
    expect(analysis.segments.map(({ operator }) => operator)).toStrictEqual(operators);
    expect(analysis.understood).toBe(true);
  });

  it.each([
    ['a block', 'a | % { b $_ }', 'b'],
    ['a called block', '& { b }', 'b'],
    ['a subexpression', 'a $(b)', 'b'],
    ['a subexpression in a string', 'a "x $(b) y"', 'b'],
    ['an expression in an argument', 'a (b)', 'b'],
    ['an array', 'a @(b)', 'b'],
    ['a hash table', 'a @{ x = (b); "y" = 1 }', 'b'],
    ['a loop', 'foreach ($i in (b)) { c }', 'b'],
    ['a trap', 'try { a } catch [Exception] { b } finally { c }', 'b'],
    ['a function', 'function f($x) { b }; f', 'b'],
    ['a switch', 'switch -regex ($x) { "a" { b } default { c } }', 'b'],
    ['a value', '$x = b c', 'b'],
    ['the arguments of a method', '$x.Run((b))', 'b'],
    ['a here-string', 'a @"\nx $(b)\n"@', 'b'],
    ['an operand', '-not (b)', 'b'],
    ['a text that is run', "iex 'a; b'", 'b'],
    ['a text that is handed on to be run', "'a; b' | Invoke-Expression", 'b'],
    ['a text within a text', "iex 'iex ''b'''", 'b'],
  ])('off the commands in %s', (_, text, name) => {
    expect(parsePowerShell(text).segments.map((segment) => segment.words[0]?.value)).toContain(name);
  });

  it('keys of a hash table off no command', () => {
    expect(words(parsePowerShell('a @{ b = 1; c = d }'))).toStrictEqual([['a', null], ['d']]);
  });

  it('words behind --% as the program gets them', () => {
    expect(words(parsePowerShell('cmd --% /c "a & b" ; %X% | d'))).toStrictEqual([
      ['cmd', '/c', 'a & b', ';', null],
      ['d'],
    ]);
  });

  it('assignments off with their value where it is one word', () => {
    const { segments } = parsePowerShell("$x = 'C:\\'; $env:Y += $z; [int]$n = Get-A | Get-B");
    expect(segments.flatMap(({ assignments }) => assignments)).toMatchObject([
      { name: 'x', value: { value: 'C:\\' } },
      { name: 'env:Y', value: { value: null, text: '$z' } },
      { name: 'n', value: null },
    ]);
  });

  it('redirections off with their streams', () => {
    const [segment] = parsePowerShell('a 2>$null 3>&1 *> "b c" d>e').segments;
    expect(segment?.words.map(({ value }) => value)).toStrictEqual(['a', 'd']);
    expect(
      segment?.redirections.map(({ operator, target }) => [operator, target?.text ?? null]),
    ).toStrictEqual([
      ['2>', '$null'],
      ['3>&1', null],
      ['*>', '"b c"'],
      ['>', 'e'],
    ]);
  });

  it('each segment as it was written', () => {
    const { segments } = parsePowerShell(' & "a b"  c > d ; if ($x) { e  f }');
    expect(segments.map(({ text }) => text)).toStrictEqual(['& "a b"  c > d', 'e  f']);
  });
});

describe('PowerShell finds', () => {
  it.each([
    ['a variable', 'a $x', { kind: 'variable', name: 'x', plain: true, quoted: false }],
    ['a variable in a string', 'a "$x"', { kind: 'variable', name: 'x', quoted: true }],
    ['a variable in braces', `a $\{x y}`, { kind: 'variable', name: 'x y' }],
    ['a variable of the environment', 'a $env:SystemDrive', { kind: 'variable', name: 'env:SystemDrive' }],
    ['a splat', 'a @x', { kind: 'variable', name: 'x', plain: false }],
    ['an expression', 'a (1)', { kind: 'dynamic', text: '(1)' }],
  ])('%s', (_, text, piece) => {
    expect(parsePowerShell(text).segments[0]?.words[1]?.pieces[0]).toMatchObject(piece);
  });

  it('no variable in single quotes or behind a backtick', () => {
    expect(words(parsePowerShell('a \'$x\' `$y "`$z" 5$'))).toStrictEqual([['a', '$x', '$y', '$z', '5$']]);
  });
});

describe('PowerShell is not understood', () => {
  it.each([
    ['with a name that is not known', '& $x a', 'dynamic_name'],
    ['with a method call', "[IO.File]::Delete('a')", 'hidden_command'],
    ['with a method call on a value', '$x.Run()', 'hidden_command'],
    ['with a method call in an argument', 'a $x.Run(1)', 'hidden_command'],
    ['with a method call by a string', "$x.'Run'()", 'hidden_command'],
    ['with a text to run that is not known', 'iex $x', 'hidden_command'],
    ['with a text to run that is fetched', 'iwr example.com | iex', 'hidden_command'],
    ['with a text to run that is put together', "iex ('a' + 'b')", 'hidden_command'],
    ['with a name given to a command', 'Set-Alias a format', 'hidden_command'],
    ['with a class', 'class A { [void] B() { c } }', 'hidden_command'],
    ['with an open bracket', 'a (b', 'syntax'],
    ['with a bracket too many', 'a }', 'syntax'],
    ['with an open quote', "a 'b", 'syntax'],
    ['with an open comment', 'a <# b', 'syntax'],
    ['with an open here-string', "a @'\nb", 'syntax'],
    ['with nothing behind an operator', 'a |', 'syntax'],
    ['with a redirection of input', 'a < b', 'syntax'],
    ['with brackets too deep', '('.repeat(200), 'too_deep'],
    ['with a control character', 'a \u0000', 'control_character'],
    ['with an escape that not every version has', 'a `e', 'control_character'],
    ['with a code point that not every version reads', 'a `u{41}', 'control_character'],
  ])('%s', (_, text, code) => {
    const analysis = parsePowerShell(text);
    expect(analysis.understood).toBe(false);
    expect(codes(analysis)).toContain(code);
  });

  it('and still shows the commands around', () => {
    expect(words(parsePowerShell('a; $x.Run(); b'))).toStrictEqual([['a'], [], ['b']]);
    expect(words(parsePowerShell(`${'$a = '.repeat(200)}x; b`))).toContainEqual(['b']);
  });
});
