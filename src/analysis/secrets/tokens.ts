import { isWordAt } from './characters.ts';
import { computeEntropy } from './entropy.ts';
import { firstGroup, type LazyPattern, lazyPattern, matchAt } from './expressions.ts';
import type { Detector, Finding } from './finding.ts';

interface Shape {
  keywords: readonly string[];
  /** Matched where the keyword stands, less `before` characters; the first group is the secret, or all of it. */
  expression: string;
  before?: number;
  isWanted?: (secret: string) => boolean;
}

/** Not a placeholder that is one character over and over. */
const isVaried = (secret: string): boolean => computeEntropy(secret) > 3;

const STRETCH_CHARACTERS = 2048;

/** Shapes of tokens that the catalogue of gitleaks lacks or knows more narrowly. */
const SHAPES: readonly Shape[] = [
  { keywords: ['aeg_'], expression: String.raw`aeg_\w{1,8}_[0-9a-f-]{36}_[0-9A-Za-z]{43,}` },
  { keywords: ['ey'], expression: String.raw`eyJ[\w-]{10,}\.eyJ?[\w-]{10,}(?:\.[\w-]{10,})?` },
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
    keywords: ['sk-proj-', 'sk-'],
    expression: 'sk-(?:[a-z]{3,12}-)?[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,}',
  },
  {
    keywords: ['glsoat-', 'glpat-', 'gldt-', 'glptt-', 'glcbt-', 'glimt-', 'glagent-', 'gloas-'],
    expression: String.raw`(?:gl(?:soat|pat|dt|cbt)-[\w-]{20,}|glimt-[\w-]{25}|glptt-[\w-]{40}|gl(?:agent|oas)-[\w-]{50,})`,
    isWanted: isVaried,
  },
  { keywords: ['gr1348941'], expression: String.raw`GR1348941[\w-]{20,}`, isWanted: isVaried },
  {
    keywords: ['_authtoken'],
    expression: String.raw`_authToken[ \t]{0,4}=[ \t]{0,4}((?:npm_|NpmToken\.)?[\w-]{8,})\b`,
  },
];

function createDetector({ keywords, expression, before = 0, isWanted = () => true }: Shape): Detector {
  const pattern: LazyPattern = lazyPattern(expression);
  return {
    keywords,
    find: (text, start) => {
      if (before === 0 && isWordAt(text, start) && isWordAt(text, start - 1)) return undefined;
      const match = matchAt(pattern(), text, Math.max(0, start - before), STRETCH_CHARACTERS, before > 0);
      if (match === undefined) return undefined;
      const found = firstGroup(match);
      return isWanted(text.slice(found.start, found.end)) ? found : undefined;
    },
  };
}

/** Tokens by their shape alone. */
export const TOKEN_DETECTORS: readonly Detector[] = SHAPES.map(createDetector);

const RUN = /[A-Za-z0-9+/_=.-]{40,}/g;

/** Most characters of a run in which a token is looked for. */
const RUN_CHARACTERS = 128;

/**
 * Tokens without a word of their own: 40 characters of base64 (AWS secret keys), three parts that are a Discord token.
 * One pass over the text.
 */
export function findInRuns(text: string, add: (finding: Finding) => void): void {
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (run.length > RUN_CHARACTERS) continue;
    const value = run.replace(/^=|[.=-]+$/g, '');
    const start = index + (run.startsWith('=') ? 1 : 0);
    if (isAwsSecret(value) || isDiscordToken(value)) add({ start, end: start + value.length });
  }
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
