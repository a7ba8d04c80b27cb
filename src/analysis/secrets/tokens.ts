import { isWordAt, markCharacters, skipName } from './characters.ts';
import { computeEntropy } from './entropy.ts';
import { findNative, reject } from './expressions.ts';
import type { Detector, Finding, Miss } from './finding.ts';

interface Shape {
  keywords: readonly string[];
  /** Matched where the keyword stands; the first group is the secret, or all of it. */
  expression: string;
  /** How many characters before the keyword a match can begin; then it is looked for in so few more. */
  before?: number;
  isWanted?: (secret: string) => boolean;
}

/** Not a placeholder that is one character over and over. */
const isVaried = (secret: string): boolean => computeEntropy(secret) > 3;

/** What is matched at first; what matches to the end of it is matched further. */
const STRETCH_CHARACTERS = 256;
/** What is matched of a token that has a part before its keyword. */
const AFTER_CHARACTERS = 48;

/** Shapes of tokens that the catalogue of gitleaks lacks or knows more narrowly. */
const SHAPES: readonly Shape[] = [
  { keywords: ['aeg_'], expression: String.raw`aeg_\w{1,8}_[0-9a-f-]{36}_[0-9A-Za-z]{43,}` },
  {
    keywords: ['ap'],
    expression: String.raw`AP[0-9A-F][A-Za-z0-9]{8,}\b`,
    isWanted: (secret) => /[a-z0-9]/.test(secret.slice(3)),
  },
  { keywords: ['akc'], expression: String.raw`AKC[A-Za-z0-9]{10,}\b` },
  {
    keywords: ['akia', 'asia', 'abia', 'acca', 'a3t'],
    expression: String.raw`(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`,
    isWanted: (secret) => !secret.endsWith('EXAMPLE'),
  },
  { keywords: ['-us'], before: 32, expression: String.raw`[0-9a-f]{32}-us[0-9]{1,2}\b` },
  { keywords: [':aa'], before: 10, expression: String.raw`(?:\b[0-9]{8,10}:AA[\w-]{33}\b)` },
  { keywords: ['/soap/v3'], expression: String.raw`/soap/v3(?:\.1)?/([a-z0-9]{64})` },
  { keywords: ['sq0csp-'], expression: String.raw`sq0csp-[\w\\-]{40,}` },
  { keywords: ['pypi-'], expression: 'pypi-AgE[A-Za-z0-9_-]{70,}' },
  {
    keywords: ['xoxp-', 'xoxo-', 'xoxs-', 'xoxa-', 'xoxr-', 'xoxb-'],
    expression: 'xox[a-z]-[0-9][A-Za-z0-9-]{18,}',
    isWanted: (secret) => /-[0-9a-f]{12,}$/.test(secret),
  },
  {
    keywords: ['hooks.slack.com/services/'],
    expression: String.raw`hooks\.slack\.com/services/(T[A-Za-z0-9_]{6,16}/B[A-Za-z0-9_]{6,16}/[A-Za-z0-9_]{20,32})`,
  },
  { keywords: ['sk', 'ac'], expression: String.raw`(?:SK|AC)[a-z0-9]{32}\b` },
  {
    keywords: ['glsoat-', 'glpat-', 'gldt-', 'glptt-', 'glcbt-', 'glimt-', 'glagent-', 'gloas-'],
    expression: String.raw`(?:gl(?:soat|pat|dt|cbt)-[\w-]{20,}|glimt-[\w-]{25}|glptt-[\w-]{40}(?![\w-])|gl(?:agent|oas)-[\w-]{50,})`,
    isWanted: isVaried,
  },
  { keywords: ['gr1348941'], expression: String.raw`GR1348941[\w-]{20,}`, isWanted: isVaried },
  {
    keywords: ['_authtoken'],
    expression: String.raw`_authToken[ \t]{0,4}=[ \t]{0,4}((?:npm_|NpmToken\.)?[\w-]{8,})\b`,
  },
];

function createDetector({ keywords, expression, before = 0, isWanted = () => true }: Shape): Detector {
  const pattern = new RegExp(expression, before === 0 ? 'dy' : 'd');
  const reach = before === 0 ? STRETCH_CHARACTERS : before + AFTER_CHARACTERS;
  return {
    keywords,
    find: (text, start) => {
      if (before === 0 && isWordAt(text, start) && isWordAt(text, start - 1)) return undefined;
      const found = findNative(pattern, text, Math.max(0, start - before), reach);
      if (found === undefined) return undefined;
      return isWanted(text.slice(found.start, found.end)) ? found : reject(found);
    },
  };
}

/** Tokens by their shape alone. */
export const TOKEN_DETECTORS: readonly Detector[] = [
  ...SHAPES.map(createDetector),
  { keywords: ['ey'], find: findJwt },
  { keywords: ['sk-'], find: findOpenAiKey },
];

/** Fewest characters of a part of a JSON Web Token (RFC 7519 §3) after what its JSON begins with. */
const PART_CHARACTERS = 10;

/** `eyJ` header `.` `ey` payload, and the signature when there is one. */
function findJwt(text: string, start: number): Finding | Miss | undefined {
  if (!text.startsWith('eyJ', start) || isWordAt(text, start - 1)) return undefined;
  const header = skipName(text, start, Number.POSITIVE_INFINITY);
  // Every other token that begins in the header would have to go on after it as this one has.
  const miss = { missedUntil: header };
  if (header - start < 3 + PART_CHARACTERS || !text.startsWith('.ey', header)) return miss;
  const payload = skipName(text, header + 1, Number.POSITIVE_INFINITY);
  if (payload - header < 3 + PART_CHARACTERS) return miss;
  const signature = text[payload] === '.' ? skipName(text, payload + 1, Number.POSITIVE_INFINITY) : payload;
  return { start, end: signature - payload > PART_CHARACTERS ? signature : payload };
}

const OPENAI_MARK = 'T3BlbkFJ';
/** Fewest characters between `sk-` and the mark, and after the mark. */
const OPENAI_CHARACTERS = 16;

function findOpenAiKey(text: string, start: number, end: number): Finding | Miss | undefined {
  if (isWordAt(text, start - 1) || !text.startsWith('sk-', start)) return undefined;
  const last = skipName(text, end, Number.POSITIVE_INFINITY);
  const mark = text.slice(end, last - OPENAI_CHARACTERS).lastIndexOf(OPENAI_MARK);
  return mark < OPENAI_CHARACTERS ? { missedUntil: last } : { start, end: last };
}

const IN_RUN = markCharacters('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/_=.-');

/** Fewest and most characters of a run in which a token is looked for. */
const RUN_CHARACTERS_MIN = 40;
const RUN_CHARACTERS_MAX = 128;

/**
 * Tokens without a word of their own: 40 characters of base64 (AWS secret keys), three parts that are a Discord token.
 * One pass over the text.
 */
export function findInRuns(text: string, add: (finding: Finding) => void): void {
  let first = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128 && IN_RUN[code] === 1) continue;
    const length = at - first;
    if (length >= RUN_CHARACTERS_MIN && length <= RUN_CHARACTERS_MAX)
      findInRun(text.slice(first, at), first, add);
    first = at + 1;
  }
}

function findInRun(run: string, index: number, add: (finding: Finding) => void): void {
  const value = run.replace(/^=|[.=-]+$/g, '');
  const start = index + (run.startsWith('=') ? 1 : 0);
  if (isAwsSecret(value) || isDiscordToken(value)) add({ start, end: start + value.length });
}

function isAwsSecret(value: string): boolean {
  return (
    /^[A-Za-z0-9+/]{40}$/.test(value) &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value) &&
    /[0-9]/.test(value) &&
    computeEntropy(value) > 4.4
  );
}

function isDiscordToken(value: string): boolean {
  return /^[AMNO][A-Za-z0-9_-]{23,25}\.[\w-]{6}\.[\w-]{27,38}$/.test(value);
}
