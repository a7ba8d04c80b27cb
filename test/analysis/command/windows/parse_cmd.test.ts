import { describe, expect, it } from 'vitest';
import { parseCmd } from '../../../../src/analysis/command/windows/parse_cmd.ts';
import { codes, words } from './support.ts';

describe('cmd splits', () => {
  it.each<[string, string, (string | null)[][], (string | null)[]]>([
    ['a chain', 'a & b && c || d | e', [['a'], ['b'], ['c'], ['d'], ['e']], [null, '&', '&&', '||', '|']],
    ['lines', 'a\r\nb\n\nc', [['a'], ['b'], ['c']], [null, '\n', '\n']],
    ['groups', '(a & (b)) | c', [['a'], ['b'], ['c']], [null, '&', '|']],
    ['nothing at a quoted operator', 'echo "a & b" c', [['echo', 'a & b', 'c']], [null]],
    ['nothing at an escaped operator', 'echo a ^& b ^| c', [['echo', 'a', '&', 'b', '|', 'c']], [null]],
    ['a caret at the end of a line away', 'del ^\r\nx', [['del', 'x']], [null]],
    ['a caret in quotes not away', 'x "a^b"', [['x', 'a^b']], [null]],
    ['at the end of a line even in quotes', 'echo "a\nb', [['echo', 'a'], ['b']], [null, '\n']],
    ['carets out of a name', 'f^or^mat C:', [['format', 'C:']], [null]],
    ['switches from the name of its own command', 'rd/s/q C:\\', [['rd', '/s/q', 'C:\\']], [null]],
    [
      'a folder from the name of its own command',
      'cd\\ & cd..',
      [
        ['cd', '\\'],
        ['cd', '..'],
      ],
      [null, '&'],
    ],
    ['its own arguments at commas and the like', 'del,a;b=c', [['del', 'a', 'b', 'c']], [null]],
    ['both branches', 'if exist a (b) else c', [['b'], ['c']], [null, null]],
    ['conditions away', 'if /i not "a b"=="c d" x & y', [['x'], ['y']], [null, '&']],
    ['comparisons away', 'if 1 EQU 2 x', [['x']], [null]],
    ['conditions of one word away', 'if errorlevel 1 if defined A x', [['x']], [null]],
    ['call and start away', 'call start "t" /wait /d C:\\x a b', [['a', 'b']], [null]],
    ['an at sign away', '@a&@@b', [['a'], ['b']], [null, '&']],
    ['commands behind a remark', 'rem x & y\nz', [['y'], ['z']], ['&', '\n']],
    ['labels away', ':top\na', [['a']], ['\n']],
  ])('%s', (_, text, expected, operators) => {
    const analysis = parseCmd(text);
    expect(words(analysis)).toStrictEqual(expected);
    expect(analysis.segments.map(({ operator }) => operator)).toStrictEqual(operators);
  });

  it('arguments of a program by the rules of its C runtime', () => {
    expect(words(parseCmd('x "a ""b"" c" "d\\" e" "f\\\\" g\\h ""'))).toStrictEqual([
      ['x', 'a "b" c', 'd" e', 'f\\', 'g\\h', ''],
    ]);
  });

  it('the loop and the command whose output it goes through', () => {
    const analysis = parseCmd('for /f "tokens=*" %i in (\'dir /b ^| find "x"\') do del %i');
    expect(words(analysis)).toStrictEqual([
      ['dir', '/b'],
      ['find', 'x'],
      ['del', null],
    ]);
    expect(analysis.understood).toBe(true);
  });

  it('the values of a loop off into its assignment', () => {
    const [segment] = parseCmd('for %%i in (C:\\ D:\\) do rd /s /q %%i').segments;
    expect(segment?.assignments).toMatchObject([{ name: 'i', value: { value: 'C:\\ D:\\' } }]);
  });
});

describe('cmd finds', () => {
  it('redirections anywhere, and no digit that belongs to a word', () => {
    const [segment] = parseCmd('>"out 1" x a1>b 2>>c 2>&1 <d e').segments;
    expect(segment?.words.map(({ value }) => value)).toStrictEqual(['x', 'a1', 'e']);
    expect(segment?.redirections.map(({ operator, target }) => [operator, target?.value])).toStrictEqual([
      ['>', 'out 1'],
      ['>', 'b'],
      ['2>>', 'c'],
      ['2>&', '1'],
      ['<', 'd'],
    ]);
  });

  it('variables, plain and cut', () => {
    const [segment] = parseCmd('x %A% %A:~0,1% !B! %1 %~dp0').segments;
    const pieces = segment?.words.slice(1).flatMap((word) => word.pieces);
    expect(pieces).toMatchObject([
      { kind: 'variable', name: 'A', plain: true },
      { kind: 'variable', name: 'A', plain: false },
      { kind: 'variable', name: 'B', plain: true },
      { kind: 'variable', name: '1' },
      { kind: 'variable', name: '0' },
    ]);
  });

  it('each segment as it was written', () => {
    const analysis = parseCmd('  @del  "a b" >x& (rd ^c)');
    expect(analysis.segments.map(({ text }) => text)).toStrictEqual(['del  "a b" >x', 'rd ^c']);
  });
});

/** Loops over the output of one another; each level escapes what the one outside would read. */
function nestLoops(depth: number): string {
  if (depth === 0) return 'dir';
  return `for /f %i in ('${nestLoops(depth - 1).replaceAll(/[\^)]/g, '^$&')}') do echo`;
}

describe('cmd is not understood', () => {
  it.each([
    ['with a variable, whose value is read as part of the line', 'x %A%', 'hidden_command'],
    ['with a variable in quotes', 'x "%A%"', 'hidden_command'],
    ['with a variable for a name', '!A! x', 'dynamic_name'],
    ['with text between percent signs that may be one', 'x 1% & format C: & x 2%', 'hidden_command'],
    ['with a call of a label', 'call :x', 'hidden_command'],
    ['with a document to start', 'start https://example.com', 'hidden_command'],
    ['with a file to start', 'start a.docx', 'hidden_command'],
    ['with nothing behind an operator', 'a &&', 'syntax'],
    ['with nothing before an operator', '& a', 'syntax'],
    ['with an open parenthesis', '(a', 'syntax'],
    ['with a parenthesis too many', 'a & )', 'syntax'],
    ['with an open quote', 'x "a', 'syntax'],
    ['with a condition that is none', 'if x', 'syntax'],
    ['with a loop that is none', 'for x', 'syntax'],
    ['with a path that cmd cuts', 'C:/a/b.exe', 'syntax'],
    ['with a redirection to nowhere', 'x >', 'syntax'],
    ['with a control character', 'x \u0007', 'control_character'],
    ['with commands nested too deep', nestLoops(10), 'too_deep'],
  ])('%s', (_, text, code) => {
    const analysis = parseCmd(text);
    expect(analysis.understood).toBe(false);
    expect(codes(analysis)).toContain(code);
  });

  it('and still shows the commands around', () => {
    expect(words(parseCmd('x 1% & format C: & x 2%'))).toContainEqual(['format', 'C:']);
    expect(words(parseCmd('a & & b ) c ('))).toStrictEqual([['a'], ['b', ')', 'c', '(']]);
  });
});
