import type { Assignment, Redirection, Segment, Word } from '../analysis.ts';
import { shown } from '../problems.ts';
import { addProblem, makeSegment } from './findings.ts';
import { matchHere, type PsElement, type PsReader, readNested, skipSpace } from './ps_reader.ts';
import { DOUBLE_QUOTES, readPsWord, SINGLE_QUOTES } from './ps_words.ts';
import { addLiteral, addPiece, beginWord, finishWord } from './word_draft.ts';

const CALL = new RegExp(`&(?!&)|\\.(?=[\\s$({${SINGLE_QUOTES}${DOUBLE_QUOTES}])`, 'y');
const REDIRECTION = /(?:[1-6*])?>>?(?:&[12])?/y;
const VERBATIM = /--%(?=\s|$)/y;

/** Commands that run text, or make a later name stand for something else. */
const TEXT_RUNNERS = new Set(['iex', 'invoke-expression']);
const RENAMERS = new Set(['set-alias', 'new-alias', 'sal', 'nal', 'import-alias', 'ipal']);

/** `&` that calls what follows, or `.` that dot-sources it. */
export function isCallOperator(reader: PsReader): boolean {
  return matchHere(reader, CALL) !== null;
}

/** Reads one command with its arguments, and notes what it is not known to run. */
export function readCommand(
  reader: PsReader,
  operator: string | null,
  assignments: Assignment[],
  piped: PsElement | null,
): PsElement {
  const { text, findings } = reader;
  const start = reader.at;
  const segment = makeSegment('powershell', { text: '', words: [], operator, assignments });
  findings.segments.push(segment);
  const call = matchHere(reader, CALL);
  reader.at += call?.[0].length ?? 0;
  skipSpace(reader);
  const isBlock = call !== null && text[reader.at] === '{';
  if (isBlock) {
    findings.constructs.add('group');
    readNested(reader, '}');
  }
  const end = readArguments(reader, segment);
  segment.text = text.slice(start, end).trim();
  if (isBlock) {
    noteBlock(reader, segment);
  } else {
    judgeName(reader, segment, piped);
  }
  return { segment, word: null };
}

/** `& { … }` runs only what is in it; its arguments are no name. */
function noteBlock(reader: PsReader, segment: Segment): void {
  segment.words = [];
  if (segment.redirections.length === 0 && segment.assignments.length === 0) reader.dropped.add(segment);
}

function readArguments(reader: PsReader, segment: Segment): number {
  const { text, findings } = reader;
  let end = reader.at;
  for (;;) {
    skipSpace(reader);
    const char = text[reader.at];
    if (char === undefined || '\n;|&)}'.includes(char)) return end;
    if (char === ',') {
      reader.at += 1;
      while (/\s/.test(text[reader.at] ?? '-')) reader.at += 1;
    } else if (matchHere(reader, REDIRECTION) !== null) {
      segment.redirections.push(readRedirection(reader));
    } else if (char === '<' || char === '>') {
      addProblem(findings, 'syntax', `\`${char}\` is no operator here`);
      reader.at += 1;
    } else if (matchHere(reader, VERBATIM) !== null) {
      readVerbatim(reader, segment.words);
    } else {
      segment.words.push(readPsWord(reader));
    }
    end = reader.at;
  }
}

function readRedirection(reader: PsReader): Redirection {
  const { findings } = reader;
  const operator = matchHere(reader, REDIRECTION)?.[0] ?? '>';
  findings.constructs.add('redirection');
  reader.at += operator.length;
  if (operator.includes('&')) return { operator, target: null, body: null };
  skipSpace(reader);
  if (/^[\n;|&)}]?$/.test(reader.text[reader.at] ?? '')) {
    addProblem(findings, 'syntax', 'a redirection has no target');
    return { operator, target: null, body: null };
  }
  return { operator, target: readPsWord(reader), body: null };
}

const VERBATIM_WORD = /"[^"\n]*"?|%([^%\s|"]{1,200})%|[^\s"|%]+|%/y;

/** After `--%` everything up to a pipe or the line's end goes to the program as it stands, but for `%NAME%`. */
function readVerbatim(reader: PsReader, words: Word[]): void {
  const { text } = reader;
  reader.at += 3;
  for (;;) {
    while (text[reader.at] === ' ' || text[reader.at] === '\t' || text[reader.at] === '\r') reader.at += 1;
    const start = reader.at;
    const draft = beginWord();
    for (
      let part = matchHere(reader, VERBATIM_WORD);
      part !== null;
      part = matchHere(reader, VERBATIM_WORD)
    ) {
      reader.at += part[0].length;
      if (part[1] === undefined) {
        addLiteral(draft, part[0].replaceAll('"', ''), part[0].startsWith('"'));
      } else {
        reader.findings.constructs.add('parameter_expansion');
        addPiece(draft, {
          kind: 'variable',
          name: `env:${part[1]}`,
          plain: true,
          text: part[0],
          quoted: false,
        });
      }
    }
    if (reader.at === start) return;
    words.push(finishWord(draft, text.slice(start, reader.at)));
  }
}

function judgeName(reader: PsReader, segment: Segment, piped: PsElement | null): void {
  const { findings } = reader;
  const [name] = segment.words;
  if (name === undefined) {
    addProblem(findings, 'syntax', 'a call names nothing');
    return;
  }
  if (name.value === null) {
    segment.understood = false;
    addProblem(findings, 'dynamic_name', `what ${shown(name.text)} runs is not known`);
    return;
  }
  const base = name.value.slice(name.value.lastIndexOf('\\') + 1).toLowerCase();
  if (TEXT_RUNNERS.has(base)) readStaticText(reader, segment, piped);
  if (RENAMERS.has(base) || segment.words.some(({ value }) => /^(?:alias|function):/i.test(value ?? ''))) {
    addProblem(findings, 'hidden_command', `${shown(segment.text)} gives a name to another command`);
  }
}

/** The commands of a text that is known join the segments; a text that is not hides them. */
function readStaticText(reader: PsReader, segment: Segment, piped: PsElement | null): void {
  const given = segment.words.slice(1).filter(({ text }) => !/^-c[a-z]{0,6}$/i.test(text));
  const handed = piped?.word ?? null;
  const texts = given.length === 0 && handed !== null ? [handed] : given;
  const values = texts.flatMap(({ value }) => value ?? []);
  const isOnlySource = given.length === 0 || piped === null;
  if (isOnlySource && texts.length > 0 && values.length === texts.length) {
    reader.readStaticText(values.join(' '));
    return;
  }
  segment.understood = false;
  addProblem(reader.findings, 'hidden_command', `the text that ${shown(segment.text)} runs is not known`);
}
