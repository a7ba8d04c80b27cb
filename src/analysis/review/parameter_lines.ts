import { canonicalize } from '../../core/canonical_json.ts';
import type { JsonValue } from '../../core/json.ts';
import { readHost } from '../paths/host_facts.ts';
import { readPath } from '../paths/path_facts.ts';
import { type Leaf, listLeaves } from './leaves.ts';
import { type Content, contentOf, type Sheet } from './sheet.ts';

/** A parameter of the call. */
export interface Parameter {
  name: string;
  value: JsonValue;
  pointer: string;
  isSecret: boolean;
}

/** A parameter that names a path or a host. */
export type Place = Parameter & { value: string };

export interface ShownLeaf {
  pointer: string;
  content: Content;
}

/** What a parameter is shown as: a line for each value in it; one line where it is secret, or one of too many. */
export function showLeaves(sheet: Sheet, parameter: Parameter, isWide: boolean): ShownLeaf[] {
  const { hider } = sheet;
  const { name, value, pointer, isSecret } = parameter;
  if (isSecret) return [{ pointer, content: contentOf(hider, name, value, true) }];
  if (isWide && typeof value === 'object' && value !== null) {
    const raw = canonicalize(value);
    return [{ pointer, content: { raw, text: hider.maskText(raw), isQuoted: false } }];
  }
  const toShown = (leaf: Leaf): ShownLeaf => ({
    pointer: leaf.pointer,
    content: contentOf(hider, leaf.name, leaf.value, false),
  });
  return listLeaves(sheet, name, value, pointer).map(toShown);
}

/** The lines of parameters that nothing more is known of. */
export function addParameters(sheet: Sheet, parameters: readonly Parameter[], isWide: boolean): void {
  for (const parameter of parameters) {
    for (const { pointer, content } of showLeaves(sheet, parameter, isWide)) {
      sheet.add({ kind: 'parameter', label: pointer, path: pointer }, content);
    }
  }
}

/** The lines of a path or a host: as it is, then as it would be read. */
export function addPlace(sheet: Sheet, kind: 'path' | 'host', place: Place, root: string | null): void {
  const { name, value, pointer } = place;
  sheet.add({ kind, label: pointer, path: pointer }, contentOf(sheet.hider, name, value, false));
  addReading(sheet, kind, place, root);
}

/** What a path or a host is read as, where that is not what it says, and where it leads. */
export function addReading(
  sheet: Sheet,
  kind: 'path' | 'host',
  { value, pointer }: Place,
  root: string | null,
): void {
  const path = kind === 'path' ? readPath(value, root) : undefined;
  const read = path === undefined ? nameHost(value) : path.normal;
  if (read !== undefined && read !== value) {
    const content = { raw: read, text: sheet.hider.maskText(read), isQuoted: true };
    sheet.add({ kind, label: `${pointer} read as`, path: pointer }, content);
  }
  if (root !== null && path?.inside_workspace === false) {
    sheet.warn('path_outside_workspace', pointer, 'the path leads out of the workspace');
  }
}

function nameHost(text: string): string | undefined {
  const read = readHost(text);
  return read && (read.port === 0 ? read.host : `${read.host}:${read.port}`);
}
