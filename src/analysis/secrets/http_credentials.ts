import { findNative, reject } from './expressions.ts';
import type { Detector, Finding, Miss } from './finding.ts';
import { isHole, isPlaceholder, runsSomething } from './placeholders.ts';

/** How far before an option the command `curl` may stand. */
const CURL_CHARACTERS = 1024;
const STRETCH_CHARACTERS = 640;

function matchBehind(pattern: RegExp, isSecret: (value: string) => boolean) {
  return (text: string, _start: number, end: number): Finding | Miss | undefined => {
    const found = findNative(pattern, text, end, STRETCH_CHARACTERS);
    if (found === undefined) return undefined;
    return isSecret(text.slice(found.start, found.end)) ? found : reject(found);
  };
}

/** An expression for what follows a word. Case is folded as RE2 does it. */
function behind(expression: string): RegExp {
  return new RegExp(expression, 'diuy');
}

const isValue = (value: string): boolean => !isPlaceholder(value) && !runsSomething(value);

const AFTER_AUTHORIZATION = behind(
  String.raw`\\*["']?[ \t]{0,5}[:=][ \t]{0,5}\\*["']?(?:(?:Basic|Bearer|(?:Api-)?Token|Digest|AWS4-HMAC-SHA256)[ \t]{1,5})?([\w=~@.+/:-]{8,})`,
);
const AFTER_BEARER = behind(String.raw`[ \t]{1,5}([\w=~.+/-]{16,})`);
const AFTER_KEY_HEADER = behind(String.raw`\\*["']?:[ \t]{0,5}\\*["']?([\w=~@.+/-]{8,})`);
const AFTER_COOKIE = behind(
  String.raw`\\*["']?:[ \t]{0,5}\\*["']?([\w.%-]{1,64}=[^\t\n\f\r "'\\]{16,}(?:; ?[\w.%-]{1,64}=[^\t\n\f\r "'\\]*)*)`,
);
const AFTER_USER = behind(
  String.raw`(?:=|[ \t]{0,5})(?:"(:[^"]{3,}|[^:"]{3,}:|[^:"]{3,}:[^"]{3,})"|'([^:']{3,}:[^']{3,})'|((?:"[^"]{3,}"|'[^']{3,}'|[\w$@.-]+):(?:"[^"]{3,}"|'[^']{3,}'|[\w${'$'}{}@.-]+)))(?:[\t\n\f\r ]|$)`,
);
const AFTER_SCHEME = behind(
  String.raw`[^\t\n\f\r :/?#\[\]@"'<>]{0,128}:([^\t\n\f\r :/?#@"'<>{}]{1,256})@[\w.\[\]-]`,
);

/** Pairs of user and password that say themselves that they are none. */
const NO_PAIR =
  /:(?:["']?)(?:change(?:it|me)|pass(?:word)?|pwd|test|token|\*+|x+)["']?$|<[^>]*>|\$\{?\w|\$\(|\{\{|:\[/i;

function findUser(text: string, start: number, end: number): Finding | Miss | undefined {
  if (!/\s/.test(text.charAt(start - 1))) return undefined;
  if (!/\bcurl\b/.test(text.slice(Math.max(0, start - CURL_CHARACTERS), start))) return undefined;
  return matchBehind(
    AFTER_USER,
    (value) => !NO_PAIR.test(value.replace(/\$\d/g, '')) && !runsSomething(value),
  )(text, start, end);
}

/** Credentials as HTTP and its clients write them (RFC 9110 §11, RFC 6265 §4, RFC 3986 §3.2.1). */
export const HTTP_DETECTORS: readonly Detector[] = [
  { keywords: ['authorization'], find: matchBehind(AFTER_AUTHORIZATION, isValue) },
  { keywords: ['bearer'], find: matchBehind(AFTER_BEARER, isValue) },
  {
    keywords: ['api-token', 'apikey', 'api-key', 'x-api-key', 'token', 'x-auth-token', 'x-jfrog-art-api'],
    find: (text, start, end) =>
      isHeader(text, start) ? matchBehind(AFTER_KEY_HEADER, isValue)(text, start, end) : undefined,
  },
  { keywords: ['cookie'], find: matchBehind(AFTER_COOKIE, isValue) },
  { keywords: ['-u', '--user'], find: findUser },
  { keywords: ['://'], find: matchBehind(AFTER_SCHEME, (value) => !isHole(value) && !runsSomething(value)) },
];

/** Whether a header's name that ends here begins as an option's value or a line does. */
function isHeader(text: string, start: number): boolean {
  return /(?:-H|--header)(?:=|\s{0,5})["'](?:[\w-]{0,24}-)?$|(?:^|\n)(?:X-[\w-]{0,24})$/i.test(
    text.slice(Math.max(0, start - 48), start),
  );
}
