import type { JsonObject } from '../../core/json.ts';
import { isWide, pointerTo, sortedMembers } from './leaves.ts';
import { type Parameter, type ShownLeaf, showLeaves } from './parameter_lines.ts';
import type { Content, Sheet } from './sheet.ts';

/** Shown for a value that one of the two actions does not have; texts stand in quotes. */
const ABSENT: Content = { raw: '(absent)', text: '(absent)', isQuoted: false };

/** The parameters of a call, each with its pointer, in canonical order (RFC 8785 §3.2.3). */
export function toParameters(
  sheet: Sheet,
  parameters: JsonObject,
  secretParameters: ReadonlySet<string>,
): Parameter[] {
  return sortedMembers(parameters).map(([name, value]) => ({
    name,
    value,
    pointer: pointerTo(sheet, '/parameters', name),
    isSecret: secretParameters.has(name),
  }));
}

/** Two lines, before and after, for each value in which the parameters differ from those first asked for. */
export function addEdits(
  sheet: Sheet,
  original: JsonObject,
  current: JsonObject,
  secretParameters: ReadonlySet<string>,
): void {
  const isLarge = isWide(original) || isWide(current);
  const list = (parameters: JsonObject) =>
    toParameters(sheet, parameters, secretParameters).flatMap((one) => showLeaves(sheet, one, isLarge));
  const before = new Map(list(original).map((leaf) => [leaf.pointer, leaf]));
  const after = new Map(list(current).map((leaf) => [leaf.pointer, leaf]));
  for (const pointer of new Set([...before.keys(), ...after.keys()].sort())) {
    addEdit(sheet, pointer, before.get(pointer), after.get(pointer));
  }
}

function addEdit(
  sheet: Sheet,
  pointer: string,
  before: ShownLeaf | undefined,
  after: ShownLeaf | undefined,
): void {
  const was = before?.content ?? ABSENT;
  const becomes = after?.content ?? ABSENT;
  if (was.raw === becomes.raw && was.text === becomes.text && was.isQuoted === becomes.isQuoted) return;
  sheet.add({ kind: 'edit', label: `${pointer} was`, path: pointer }, was);
  sheet.add({ kind: 'edit', label: `${pointer} becomes`, path: pointer }, becomes);
}
