/** A variable as cmd writes it: `%NAME%`, `!NAME!`, `%1`, `%~dp0`, `%i`. */
export interface CmdVariable {
  name: string;
  /** False with a substring or replacement: `%NAME:~0,1%`, `%NAME:a=b%`. */
  plain: boolean;
  /** Where it ends in the text. */
  end: number;
  /** Whether its value is read as part of the command line, operators and all. */
  reread: boolean;
}

/** What a name between percent signs may hold; a blank or an operator there is text that may well run as written. */
const BODY = /^[^%\s&|<>"^]+$/;
const PLAIN_NAME = /^[^:\\/]+$/;
const DELAYED_BODY = /^[A-Za-z_][^!\s&|<>"^]*$/;
const ARGUMENT = /%(?:\*|~[a-z$]{0,16}[0-9]|[0-9])/iy;
const LOOP = /%%?(~(?:\$\w{1,32}:)?)?([a-z]{1,17}|[^\s%~])/iy;

/** The variable that a percent sign at `at` starts; null when the sign stands for itself. */
export function readPercent(text: string, at: number, loopLetters: ReadonlySet<string>): CmdVariable | null {
  const argument = matchAt(ARGUMENT, text, at);
  if (argument !== null) {
    return { name: argument[0].slice(-1), plain: true, end: at + argument[0].length, reread: true };
  }
  const close = text.indexOf('%', at + 1);
  const body = close === -1 ? '' : text.slice(at + 1, close);
  const name = body.split(':', 1)[0] ?? '';
  if (BODY.test(body) && PLAIN_NAME.test(name)) {
    return { name, plain: name === body, end: close + 1, reread: true };
  }
  return readLoop(text, at, loopLetters);
}

function readLoop(text: string, at: number, loopLetters: ReadonlySet<string>): CmdVariable | null {
  if (loopLetters.size === 0) return null;
  const loop = matchAt(LOOP, text, at);
  const run = loop?.[2] ?? '';
  const plain = loop?.[1] === undefined;
  // Letters before the variable's own are modifiers, as `nx` of `%~nxi`; those after it are text.
  const index = [...run.slice(0, plain ? 1 : run.length)].findIndex((letter) => loopLetters.has(letter));
  const name = run[index];
  if (loop === null || name === undefined) return null;
  return { name, plain, end: at + loop[0].length - run.length + index + 1, reread: false };
}

/** The variable that an exclamation mark starts, if delayed expansion is on; null when it cannot be one. */
export function readDelayed(text: string, at: number): CmdVariable | null {
  const close = text.indexOf('!', at + 1);
  const body = close === -1 ? '' : text.slice(at + 1, close);
  const name = body.split(':', 1)[0] ?? '';
  return DELAYED_BODY.test(body) ? { name, plain: name === body, end: close + 1, reread: false } : null;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
