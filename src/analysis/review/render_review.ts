import type { ToolCall } from '../../core/action.ts';
import { sha256Hex } from '../../core/digest.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Masker } from '../../core/masker.ts';
import { parseToolCall } from '../../core/parse_tool_call.ts';
import type { Review, ReviewFacts, ReviewLine, ReviewLineKind, ReviewWarning } from '../../core/review.ts';
import { addCommand } from './command_lines.ts';
import { addEdits, toParameters } from './edit_lines.ts';
import { createHider } from './hider.ts';
import { isWide } from './leaves.ts';
import { addParameters, addPlace, addReading, type Parameter, type Place } from './parameter_lines.ts';
import { createSheet, type Sheet } from './sheet.ts';

/** Moves whenever the same action would be shown otherwise, so that a vote's `view_hash` names what was seen. */
export const REVIEW_VERSION = 1;

export interface ReviewInput {
  /** The exact canonical JSON text that is hashed. */
  canonicalAction: string;
  /** That of the action first asked for, when an edit has changed it. */
  originalAction: string | null;
  /** What tool and action resolved to. */
  resolved: { tool: string; action: string };
  facts: ReviewFacts;
  /** Parameters that are secret as a whole. */
  secretParameters: readonly string[];
  masker: Masker;
}

/**
 * What an approver is shown of an action (SHOWN IS BOUND): typed lines made of the canonical bytes alone, in a fixed
 * order, and warnings. Every parameter is there: with a line for each value in it, long ones folded with length and
 * SHA-256. Texts stand in quotes, so that `1` and `"1"` differ; what has no look of its own, or another's, is an escape
 * (see `showText`); secrets are hidden behind their fingerprints. The views of two actions are equal only if the
 * actions are equal outside what is hidden. Pure: the same input has the same view, under one Unicode version.
 */
export function renderReview(input: ReviewInput): Review {
  const call = parseToolCall(input.canonicalAction);
  const original = input.originalAction === null ? null : parseToolCall(input.originalAction);
  const secretNames = toSecretNames(input);
  const secrets = [call, original].flatMap((one) => (one === null ? [] : secretTexts(one, secretNames)));
  const sheet = createSheet(createHider(input.masker, secrets));
  addHead(sheet, call, input);
  addAllParameters(sheet, call.parameters, secretNames, input.facts);
  if (original !== null) addEdits(sheet, original.parameters, call.parameters, secretNames);
  return seal(sheet.lines, sheet.listWarnings());
}

/** A command and its argument vector are one text in two forms: where one is secret, so is the other. */
function toSecretNames({ secretParameters, facts }: ReviewInput): ReadonlySet<string> {
  const { parameter, argvParameter } = facts.command ?? { parameter: null, argvParameter: null };
  const ofCommand = [parameter, argvParameter].filter((name) => name !== null);
  const isSecret = ofCommand.some((name) => secretParameters.includes(name));
  return new Set([...secretParameters, ...(isSecret ? ofCommand : [])]);
}

function seal(lines: ReviewLine[], warnings: ReviewWarning[]): Review {
  const hashed = { lines, view_version: REVIEW_VERSION, warnings };
  // Members stand in canonical order, and no text holds a lone surrogate: this is the canonical JSON, made faster.
  return { ...hashed, view_hash: sha256Hex(JSON.stringify(hashed)) };
}

function secretTexts({ parameters }: ToolCall, names: ReadonlySet<string>): string[] {
  return Object.entries(parameters).flatMap(([name, value]) => (names.has(name) ? textsIn(value) : []));
}

function textsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function addHead(sheet: Sheet, call: ToolCall, { resolved, facts }: ReviewInput): void {
  const add = (
    kind: ReviewLineKind,
    label: string,
    path: string | null,
    raw: string,
    isQuoted = false,
  ): void => sheet.add({ kind, label, path }, { raw, text: sheet.hider.maskText(raw), isQuoted });
  add('tool', 'tool', '/tool', call.tool);
  if (resolved.tool !== call.tool) add('tool', 'tool read as', null, resolved.tool);
  add('operation', 'operation', '/action', call.action);
  if (resolved.action !== call.action) add('operation', 'operation read as', null, resolved.action);
  if (call.resource === null) add('resource', 'resource', '/resource', 'null');
  else add('resource', 'resource', '/resource', call.resource, true);
  add('mutates_state', 'mutates_state', '/mutates_state', String(call.mutates_state));
  if (!facts.registered)
    sheet.warn('unknown_tool', '/tool', 'the tool is not registered: what it does is not known');
}

const NONE: ReadonlySet<string> = new Set();

function addAllParameters(
  sheet: Sheet,
  call: JsonObject,
  secretNames: ReadonlySet<string>,
  facts: ReviewFacts,
): void {
  const parameters = toParameters(sheet, call, secretNames);
  const isLarge = isWide(call);
  const byName = new Map(parameters.map((one) => [one.name, one]));
  const inCommand = facts.command === null ? NONE : addCommand(sheet, call, byName, facts.command, isLarge);
  for (const one of parameters) {
    const isShown = inCommand.has(one.name) && isPlaceOf(one, facts.pathParameters);
    if (isShown) addReading(sheet, 'path', one, facts.workspaceRoot);
  }
  const others = parameters.filter(({ name }) => !inCommand.has(name));
  const paths = others.filter((one) => isPlaceOf(one, facts.pathParameters));
  const withoutPaths = others.filter((one) => !isPlaceOf(one, facts.pathParameters));
  const hosts = withoutPaths.filter((one) => isPlaceOf(one, facts.hostParameters));
  const rest = withoutPaths.filter((one) => !isPlaceOf(one, facts.hostParameters));
  addParameters(sheet, rest, isLarge);
  if (parameters.length === 0)
    sheet.addPlain({ kind: 'parameter', label: '/parameters', path: '/parameters' }, '{}');
  for (const one of paths) addPlace(sheet, 'path', one, facts.workspaceRoot);
  for (const one of hosts) addPlace(sheet, 'host', one, facts.workspaceRoot);
}

function isPlaceOf(one: Parameter, names: readonly string[]): one is Place {
  return names.includes(one.name) && typeof one.value === 'string' && !one.isSecret;
}
