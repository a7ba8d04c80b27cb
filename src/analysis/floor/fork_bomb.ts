import { type RoughToken, readRoughly } from './read_roughly.ts';

/** Words after which a command starts, beside operators. */
const OPENERS = new Set([
  '{',
  '(',
  'do',
  'then',
  'else',
  'elif',
  'if',
  'while',
  'until',
  '!',
  'time',
  'exec',
  'nohup',
]);
const CLOSERS = new Set([')', '}', 'done', 'fi', '{']);
const ENDS_COMMAND = new Set([';', '&', '&&', '||', '|', '|&', '(', ')', '\n', ';;']);

/** The script itself, by which it starts a copy. */
const ITSELF = /^["']?(\.\/)?\$(0|\{0\})["']?$/;

interface Run {
  name: string;
  /** What stands before and after the command. */
  before: string;
  after: string;
  /** How many functions were open around it, by name. */
  within: ReadonlySet<string>;
}

function textOf(token: RoughToken | undefined): string {
  if (token === undefined) return '';
  return token.kind === 'operator' ? token.text : (token.word.value ?? token.word.text);
}

/** The operator that ends the command at `at`, past the closing of groups around it. */
function operatorAfter(tokens: readonly RoughToken[], ends: readonly number[], at: number): string {
  return textOf(tokens[ends[at] ?? tokens.length]);
}

/** For each token, where the next operator that ends a command stands, closers left out. */
function findEnds(tokens: readonly RoughToken[]): number[] {
  const ends = new Array<number>(tokens.length).fill(tokens.length);
  let next = tokens.length;
  for (let at = tokens.length - 1; at >= 0; at -= 1) {
    const token = tokens[at];
    const text = textOf(token);
    const isEnd = token?.kind === 'operator' && ENDS_COMMAND.has(text) && text !== ')' && text !== '(';
    // A `;` before `}` or `done` ends the command, but what stands after the group decides whether it waits.
    const isPause = text === ';' || text === '\n';
    const closes = CLOSERS.has(textOf(tokens[at + 1])) && textOf(tokens[at + 1]) !== '{';
    if (isEnd && !(isPause && closes)) next = at;
    ends[at] = next;
  }
  return ends;
}

interface Reader {
  /** Functions whose bodies are open, and at which depth of braces each began. */
  open: { name: string; depth: number }[];
  depth: number;
  runs: Run[];
}

/** Whether a function's definition starts here, and how many tokens its head takes. */
function headAt(tokens: readonly RoughToken[], at: number): { name: string; length: number } | null {
  const text = textOf(tokens[at]);
  if (text === 'function' && tokens[at + 1]?.kind === 'word') {
    const length = textOf(tokens[at + 2]) === '(' && textOf(tokens[at + 3]) === ')' ? 4 : 2;
    return { name: textOf(tokens[at + 1]), length };
  }
  const isHead =
    tokens[at]?.kind === 'word' && textOf(tokens[at + 1]) === '(' && textOf(tokens[at + 2]) === ')';
  return isHead ? { name: text, length: 3 } : null;
}

function trackDepth(reader: Reader, text: string): void {
  if (text === '{' || text === '(') reader.depth += 1;
  if (text !== '}' && text !== ')') return;
  reader.depth -= 1;
  while (reader.open.length > 0 && (reader.open.at(-1)?.depth ?? 0) >= reader.depth) reader.open.pop();
}

/** Every command that is run, with the functions it stands in. */
function listRuns(tokens: readonly RoughToken[]): Run[] {
  const ends = findEnds(tokens);
  const reader: Reader = { open: [], depth: 0, runs: [] };
  let starts = true;
  let before = '';
  for (let at = 0; at < tokens.length; at += 1) {
    const head = starts ? headAt(tokens, at) : null;
    const token = tokens[at];
    const text = textOf(token);
    if (head !== null) {
      if (reader.open.length < OPEN_MAX) reader.open.push({ name: head.name, depth: reader.depth });
      at += head.length - 1;
      continue;
    }
    trackDepth(reader, text);
    if (token?.kind === 'operator') {
      starts = ENDS_COMMAND.has(text);
      if (starts && text !== '(') before = text;
    } else if (starts && !OPENERS.has(text)) {
      const after = operatorAfter(tokens, ends, at);
      // `{:` is no group for bash, but is for others.
      const name = text.length > 1 ? text.replace(/^\{/, '') : text;
      reader.runs.push({ name, before, after, within: new Set(reader.open.map((one) => one.name)) });
      starts = false;
    }
  }
  return reader.runs;
}

/** How deep functions within functions are followed. */
const OPEN_MAX = 8;

function isPipe(operator: string): boolean {
  return operator === '|' || operator === '|&';
}

/** Whether shell text defines a function that starts itself twice at once, or a copy that nothing waits for. */
export function holdsForkBomb(text: string): boolean {
  if (!/\(\s{0,64}\)|\bfunction\b|\$\{?0/.test(text) || !/[&|]/.test(text)) return false;
  const runs = listRuns(readRoughly(text));
  return runs.some((run, index) => {
    if (!run.within.has(run.name) && !ITSELF.test(run.name)) return false;
    if (run.after === '&') return true;
    return isPipe(run.after) && runs[index + 1]?.name === run.name && isPipe(runs[index + 1]?.before ?? '');
  });
}

/** Endless starting of processes in a language with a `fork` of its own. Each gap that is looked across is bounded. */
const CODE_BOMBS = [
  /\bfork\b[\s()]{0,8}(?:while|until)\b/,
  /\bwhile\b[\s(]{0,8}(?:1|true|True|fork)\b[^\n]{0,80}\bfork\b/,
  /\bwhile\b[\s(]{0,8}(?:1|true|True)\b[\s):]{0,8}\n?\s{0,40}(?:[\w.]{0,40}\n?\s{0,40}){0,2}fork\b/,
  /\bfor\s{0,8}\(;;\)[^\n]{0,80}\bfork\b/,
  /\bloop\b\s{0,8}(?:\{|do)[^\n]{0,80}\bfork\b/,
  /\bfork\s{0,4}\(\s{0,4}\)\s{0,4}(?:;\s{0,4})?while\b/,
  /\bfork\s{0,4}\(\s{0,4}\)\s{1,8}for\s{1,8}\w{1,20}\s{1,8}in\s{1,8}(?:iter|itertools|count|range)\b/,
] as const;

export function holdsCodeBomb(code: string): boolean {
  return code.includes('fork') && CODE_BOMBS.some((bomb) => bomb.test(code));
}
