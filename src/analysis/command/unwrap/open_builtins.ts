import { dynamic, hidden, type Opener, type Outcome, runJoined } from './outcome.ts';
import { isKnownFile, isOperand } from './word_tools.ts';

/** `eval words`: the words joined by blanks are read again. */
export const openEval: Opener = ({ words }) => {
  const rest = words[1]?.value === '--' ? words.slice(2) : words.slice(1);
  return runJoined(rest);
};

/** `. file`: its text runs here. The file is a script file. */
export const openSource: Opener = ({ words }) => {
  const file = words[1]?.value === '--' ? words[2] : words[1];
  const isKnown = file !== undefined && isKnownFile(file) && isOperand(file);
  return isKnown ? [] : [dynamic('the file that is read is not known')];
};

/** `trap text signals`: a text, unless it resets or prints. */
export const openTrap: Opener = ({ words }) => {
  const rest = words[1]?.value === '--' ? words.slice(2) : words.slice(1);
  const [action] = rest;
  if (action === undefined || rest.length === 1 || /^(?:-|\d+|-[lp])?$/.test(action.value ?? 'x')) return [];
  return runJoined([action]);
};

/** `alias name=text`: the text is what the name runs later. Options reach further than the name. */
export const openAlias: Opener = ({ words }) => {
  const outcomes: Outcome[] = [];
  for (const { value } of words.slice(1)) {
    if (value === null || /^[-+]./.test(value)) {
      outcomes.push(hidden('an alias can change what any word runs'));
    } else if (value.includes('=')) {
      outcomes.push({ kind: 'text', language: 'posix', text: value.slice(value.indexOf('=') + 1) });
    }
  }
  return outcomes;
};

/** Options with which a builtin runs or installs a command that its words do not show as one. */
const HIDING_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ['hash', /^-[a-z]*p|=/],
  ['enable', /^-[a-z]*[fn]/],
  ['compgen', /^-[a-z]*[CFW]/],
  ['complete', /^-[a-z]*[CFW]/],
  ['mapfile', /^-[a-z]*C/],
  ['readarray', /^-[a-z]*C/],
  ['bind', /^-[a-z]*[xf]/],
  ['fc', /^(?:-[a-z]*[es]|[^-])/],
  ['jobs', /^-[a-z]*x/],
  ['emulate', /^-[a-zA-Z]*c/],
  ['sched', /./],
  ['zmodload', /./],
  ['autoload', /./],
  ['functions', /=|^-[a-zA-Z]*[ceM]/],
]);

export const HIDING_BUILTINS: readonly string[] = [...HIDING_OPTIONS.keys()];

/** Builtins that are harmless but for some options. */
export const openHidingBuiltin: Opener = ({ words }) => {
  const name = words[0]?.value ?? '';
  const pattern = HIDING_OPTIONS.get(name);
  const hides = words.slice(1).some(({ value }) => value === null || pattern?.test(value) === true);
  return hides ? [hidden(`\`${name}\` can run or install what its words do not show`)] : [];
};
