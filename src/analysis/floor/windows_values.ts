import type { CommandCall } from '../../core/command_call.ts';
import type { Assignment, Piece, Segment, Word } from '../command/analysis.ts';
import { SOME_PART, UNKNOWN_VALUE, type WindowsGround } from './windows_paths.ts';

/** What is known where a command stands. It only grows: what one branch sets, another may not unset. */
export interface WindowsScope extends WindowsGround {
  variables: Map<string, string[]>;
  folders: (string | null)[];
  /** What stands for a value that is not known: one that may be empty, or some name. */
  unknown: typeof UNKNOWN_VALUE | typeof SOME_PART;
}

const VALUES_MAX = 16;

/** Values that every Windows has, as it is installed. */
const INSTALLED: Record<string, string> = {
  systemdrive: 'C:',
  homedrive: 'C:',
  systemroot: 'C:\\Windows',
  windir: 'C:\\Windows',
  comspec: 'C:\\Windows\\System32\\cmd.exe',
  homepath: `\\Users\\${SOME_PART}`,
  programfiles: 'C:\\Program Files',
  'programfiles(x86)': 'C:\\Program Files (x86)',
  programw6432: 'C:\\Program Files',
  programdata: 'C:\\ProgramData',
  allusersprofile: 'C:\\ProgramData',
  public: 'C:\\Users\\Public',
  null: '',
  true: 'True',
  false: 'False',
};
const NEVER_EMPTY = new Set(
  (
    'temp tmp appdata localappdata username userdomain computername path pathext os commonprogramfiles onedrive ' +
    '_ psitem psscriptroot pscommandpath pshome profile pid random date time errorlevel this host'
  ).split(' '),
);

/** The scope of a whole command. */
export function beginScope({ cwd, env }: CommandCall): WindowsScope {
  const variables = new Map<string, string[]>();
  for (const [name, value] of Object.entries(env)) variables.set(toName(name), [value]);
  const home = (variables.get('userprofile') ?? variables.get('home'))?.[0] ?? null;
  return { variables, folders: [cwd], home, unknown: UNKNOWN_VALUE };
}

/** Scopes of PowerShell and its drive of environment variables are one here: `$env:X`, `$script:x`. */
function toName(name: string): string {
  return name.toLowerCase().replace(/^(?:env|global|script|local|private|variable):/, '');
}

function addValues({ variables }: WindowsScope, name: string, values: readonly string[]): void {
  const key = toName(name);
  const all = new Set([...(variables.get(key) ?? []), ...values]);
  variables.set(key, [...all].slice(0, VALUES_MAX));
}

function lookUp(name: string, { variables, folders, home, unknown }: WindowsScope): string[] {
  const key = toName(name);
  const bound = variables.get(key);
  if (bound !== undefined) return bound;
  if (key === 'userprofile' || key === 'home') return [home ?? `C:\\Users\\${SOME_PART}`];
  if (key === 'pwd' || key === 'cd') return folders.map((folder) => folder ?? '.');
  return [INSTALLED[key] ?? (NEVER_EMPTY.has(key) ? SOME_PART : unknown)];
}

const SUBSTRING = /:~(-?\d+)(?:,(-?\d+))?[%!]$/;

function expandPiece(piece: Piece, scope: WindowsScope): string[] {
  if (piece.kind === 'literal' || piece.kind === 'glob') return [piece.text];
  if (piece.kind === 'tilde') return piece.user === '' ? ['~'] : [SOME_PART];
  if (piece.kind === 'dynamic') return readValues(piece.text, scope) ?? [SOME_PART];
  const values = lookUp(piece.name, scope);
  if (piece.plain || piece.text.startsWith('$') || piece.text.startsWith('@')) return values;
  const [, from, length] = SUBSTRING.exec(piece.text) ?? [];
  if (from === undefined) return piece.text.includes('~') ? values : [scope.unknown];
  return values.map((value) => cutValue(value, Number(from), length === undefined ? null : Number(length)));
}

/** `%NAME:~from,length%`. */
function cutValue(value: string, from: number, length: number | null): string {
  const start = from < 0 ? Math.max(0, value.length + from) : from;
  if (length === null) return value.slice(start);
  return value.slice(start, length < 0 ? length : start + length);
}

/** What a word may stand for. */
export function expandWord(word: Word, scope: WindowsScope): string[] {
  if (word.value !== null) return [word.value];
  let whole = [''];
  for (const piece of word.pieces) {
    const next = expandPiece(piece, scope);
    whole = whole.flatMap((start) => next.map((end) => start + end)).slice(0, VALUES_MAX);
  }
  return whole;
}

const VALUE_TOKEN =
  /\s+|[(@+),]|\$\(|'((?:[^']|'')*)'|"([^"$`]*)"|\$\{?([\p{L}\p{N}_:]+)\}?|"([^"`$]*)\$([\p{L}\p{N}_:]+)([^"`$]*)"/uy;

/** The values of an expression that is only strings and variables, joined by `+` or listed by commas; null otherwise. */
export function readValues(text: string, scope: WindowsScope): string[] | null {
  const values: string[] = [];
  let current: string[] | null = null;
  VALUE_TOKEN.lastIndex = 0;
  while (VALUE_TOKEN.lastIndex < text.length) {
    const token = VALUE_TOKEN.exec(text);
    if (token === null || values.length > VALUES_MAX) return null;
    if (token[0] === ',') {
      values.push(...(current ?? []));
      current = null;
    }
    const next = valuesOfToken(token, scope);
    if (next !== null) {
      const starts: string[] = current ?? [''];
      current = starts.flatMap((start) => next.map((end) => start + end)).slice(0, VALUES_MAX);
    }
  }
  values.push(...(current ?? []));
  return values.length === 0 ? null : values;
}

function valuesOfToken(token: RegExpExecArray, scope: WindowsScope): string[] | null {
  const [, single, double, name, before = '', within, after = ''] = token;
  if (single !== undefined) return [single.replaceAll("''", "'")];
  if (double !== undefined) return [double];
  if (name !== undefined) return lookUp(name, scope);
  if (within !== undefined) return lookUp(within, scope).map((value) => before + value + after);
  return null;
}

const SET = /^\s*@?set\s+(?:\/a\s+)?"?([^=\s"]+)=([^"]*)"?\s*$/i;

/** Takes in what a segment sets: assignments, the values of a loop, `set NAME=value`. */
export function noteAssignments(segment: Segment, scope: WindowsScope): void {
  for (const assignment of segment.assignments) {
    addValues(scope, assignment.name, valuesOfAssignment(assignment, segment, scope));
  }
  const set = segment.language === 'cmd' ? SET.exec(segment.text.replaceAll('^', '').slice(0, 2048)) : null;
  if (set !== null) addValues(scope, set[1] ?? '', [set[2] ?? '']);
}

function valuesOfAssignment(
  { value, text }: Assignment,
  { language }: Segment,
  scope: WindowsScope,
): string[] {
  if (value !== null) {
    const values = expandWord(value, scope);
    return language === 'cmd'
      ? values.flatMap((list) => list.split(/[\s,;=]+/).filter((item) => item !== ''))
      : values;
  }
  const right = text.slice(text.indexOf('=') + 1);
  return (text.length <= 2048 ? readValues(right, scope) : null) ?? [SOME_PART];
}
