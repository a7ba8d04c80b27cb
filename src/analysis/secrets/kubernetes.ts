import type { Detector, Finding } from './finding.ts';
import { isPlaceholder, runsSomething } from './placeholders.ts';

/** How far from its `data` a manifest may say its kind, how many values are read, and how long their lines may be. */
const KIND_CHARACTERS = 1024;
const VALUES_MAX = 64;
const LINE_CHARACTERS = 2048;

const KIND = /\bkind:[ \t]*["']?secret\b/i;

/** The values of a Kubernetes Secret's `data` and `stringData`, as YAML has them in lines. */
export const KUBERNETES_DETECTORS: readonly Detector[] = [
  {
    keywords: ['data:'],
    find: (text, start, end) => {
      if (text[end] !== '\n' && text[end] !== '\r') return undefined;
      const near = text.slice(Math.max(0, start - KIND_CHARACTERS), end + KIND_CHARACTERS);
      return KIND.test(near) ? readValues(text, text.indexOf('\n', end) + 1) : undefined;
    },
  },
];

function readValues(text: string, from: number): Finding[] {
  const findings: Finding[] = [];
  let at = from;
  for (let count = 0; count < VALUES_MAX && at > 0; count += 1) {
    const line = text.slice(at, at + LINE_CHARACTERS).split('\n', 1)[0] ?? '';
    const member = /^[ \t]+[\w.-]+:[ \t]+["']?/.exec(line);
    if (member === null) break;
    const value = line.slice(member[0].length).replace(/["']?\s*$/, '');
    const start = at + member[0].length;
    const isMasked = value.startsWith('(secret ');
    if (value.length > 3 && !isMasked && !isPlaceholder(value) && !runsSomething(value)) {
      findings.push({ start, end: start + value.length });
    }
    at += line.length + 1;
    if (at >= text.length) break;
  }
  return findings;
}
