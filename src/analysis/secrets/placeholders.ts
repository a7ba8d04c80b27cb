import { computeEntropy } from './entropy.ts';

/** As a person writes them: in any mixture of cases the shorter ones would stand in base64 by chance. */
const WORDS = [
  'fake',
  'changeme',
  'change_me',
  'placeholder',
  'insert',
  'your_',
  'your-',
  'redacted',
  'dummy',
  'xxxx',
  '****',
  '....',
  '####',
].flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)]);

const NOTHING = new Set(
  'true false null none nil undefined yes no on off required optional string secret password token key string? bool await new'.split(
    ' ',
  ),
);

/** Expressions that stand for a value that is elsewhere, or for one that is yet to be filled in. */
const REFERENCE = new RegExp(
  [
    String.raw`^\$(?:\w+[})/]*|\{\w[^}]*\}|\{\{[^}]*\}\})$`,
    String.raw`^\$\(`,
    String.raw`^[<[(].*[>\])]$`,
    '^[<%@]',
    'EXAMPLE',
    '^file:///',
    String.raw`^\{\{.*\}\}$`,
    String.raw`^%\w*%?$`,
    '^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$',
    String.raw`^(?:[A-Za-z_]\w*[.])+[A-Za-z_]\w*[,;]?$`,
    String.raw`^[\w.]*\w\(`,
    String.raw`^[A-Za-z_][\w.]*\[$`,
    String.raw`^(?:process\.env|os\.environ|env|ENV)[.[(]`,
  ].join('|'),
);

/**
 * Whether a value that stands where a secret would is none: a variable, a call, a hole in a template, or a word that says
 * so itself. The value is at most some hundred characters long.
 */
export function isPlaceholder(value: string): boolean {
  const lower = value.toLowerCase();
  if (NOTHING.has(lower.replace(/[,;]$/, '')) || !/[A-Za-z0-9]/.test(value)) return true;
  if (WORDS.some((word) => value.includes(word))) return true;
  return isMonotonous(lower) || REFERENCE.test(value) || isPath(value);
}

/** Longer values are no path that a person would write. */
const PATH_CHARACTERS = 256;

/** Words as paths have them and base64 hardly ever: of one case but for the first letter, digits at the end. */
const COMPONENT = /^[._-]*[A-Z]?[a-z]*\d{0,6}(?:[._-]+[A-Z]?[a-z]*\d{0,6})*$/;
const COMPONENT_CHARACTERS = 32;

function isComponent(part: string): boolean {
  return part.length <= COMPONENT_CHARACTERS && COMPONENT.test(part);
}

/** Whether a value says in which file the secret is. Who reads a command must see which one it is. */
function isPath(value: string): boolean {
  if (value.length > PATH_CHARACTERS || !/^(?:~|\.{1,2})?\//.test(value)) return false;
  const [root, ...components] = value.split('/');
  return (root !== '' || components.length > 1) && components.every(isComponent);
}

/** As much of a value says enough of it. */
const ENTROPY_CHARACTERS = 64;

/** One character over and over, with hardly anything beside it. */
function isMonotonous(value: string): boolean {
  return (
    new Set(value.slice(0, ENTROPY_CHARACTERS)).size < 2 ||
    (value.length > 11 && computeEntropy(value.slice(0, ENTROPY_CHARACTERS)) < 1.5)
  );
}

/** Whether a value is a hole in a template or a variable, and no word of any kind. */
export function isHole(value: string): boolean {
  return REFERENCE.test(value) || isMonotonous(value);
}

/** What must never be hidden from who reads a command: it runs something, whatever it is called. */
export function runsSomething(value: string): boolean {
  return (
    value.includes('$(') ||
    value.includes('`') ||
    value.includes('<(') ||
    /(?:^|\s)(?:&&|\|\|?|;)\s|;\s/.test(value)
  );
}
