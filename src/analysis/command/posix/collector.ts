import type { Script } from 'unbash';
import type { Construct, Segment } from '../analysis.ts';
import { Problems, shown } from '../problems.ts';
import type { OnDoubt } from './words.ts';

/** Deeper nodes than any person writes; below where the parser itself gives up. */
const NODES_DEEP_MAX = 120;
/** Substitutions and expansions inside each other: the parser reads each level's text again. */
const EXPANSIONS_DEEP_MAX = 16;

/** How often the text may be read on the whole, by the expansions in it. */
const READINGS_MAX = 5;
const READ_ALWAYS = 4096;

/** Thrown to leave a text that is nested too deeply. */
export class TooDeep extends Error {}

/** What a walk over a syntax tree has found. */
export interface Collector {
  segments: Segment[];
  constructs: Set<Construct>;
  problems: Problems;
  functions: Set<string>;
  /** Variables that the text sets, and whether each value given is a plain number. */
  numbers: Map<string, boolean>;
  /** Variables that arithmetic would evaluate. */
  evaluated: Set<string>;
  onDoubt: OnDoubt;
  /** Characters that may still be read in expansions. */
  left: number;
}

export function createCollector(text: string): Collector {
  const problems = new Problems();
  return {
    segments: [],
    constructs: new Set(),
    problems,
    functions: new Set(),
    numbers: new Map(),
    evaluated: new Set(),
    onDoubt: (text) => problems.add('syntax', `${shown(text)} can be read in two ways`),
    left: READ_ALWAYS + READINGS_MAX * text.length,
  };
}

/** Where in the tree a node stands. */
export interface Place {
  /** The text that positions count in. */
  source: string;
  /** What joins the first command found to the one before it. */
  operator: string | null;
  nodes: number;
  expansions: number;
}

export function rootPlace(script: Script, source: string): Place {
  return { source: script.source ?? source, operator: null, nodes: 0, expansions: 0 };
}

/** One node further down. @throws TooDeep */
export function below({ source, nodes, expansions }: Place, operator: string | null = null): Place {
  if (nodes >= NODES_DEEP_MAX) throw new TooDeep();
  return { source, operator, nodes: nodes + 1, expansions };
}

/** One expansion further down, which reads its text again. @throws TooDeep */
export function insideExpansion(collector: Collector, place: Place, length: number): Place {
  collector.left -= length;
  if (place.expansions >= EXPANSIONS_DEEP_MAX || collector.left < 0) throw new TooDeep();
  return { ...below(place), expansions: place.expansions + 1 };
}

/** Notes that the text sets a variable; a value of null is one that only running it tells. */
export function noteSet({ numbers }: Collector, name: string, isNumber: boolean): void {
  numbers.set(name, isNumber && (numbers.get(name) ?? true));
}
