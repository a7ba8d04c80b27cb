import type { JsonObject } from '../../core/json.ts';
import type { Rules } from '../../core/rules.ts';
import { findOtherStructure, hasLooserPermission, tightenTool } from '../../core/tighten_tool.ts';
import { LEFT_OUT, type ToolRegistration } from '../../core/tool_registration.ts';
import { keyOf, nameOf, type ToolName } from './tool_names.ts';

// Registrations are kept as they were sent, and read by the compiler, which judges them. Here they are only found,
// compared with the base, and shown with what is left out filled in.

/** Facts of which true is the stricter; of `idempotent` it is false. */
const STRICT_WHEN_TRUE = ['mutates_state', 'destructive', 'requires_approval'] as const;

/** A registered operation as it holds for a tenant. */
export interface ToolEntry {
  /** Whether it is of the base set; then a tenant's own registration only tightens it. */
  isBase: boolean;
  registration: ToolRegistration;
}

/** What every registration says. */
type Sent = Pick<ToolRegistration, 'mutates_state'>;

/** A registration as it was sent, whose form was checked then, with all of its members and names in normal form. */
function complete(sent: JsonObject): ToolRegistration {
  return { ...LEFT_OUT, ...(sent as Partial<ToolRegistration> & Sent), ...nameOf(sent) };
}

/** The members by which a tenant's registration would loosen a base tool, or make another tool of it. */
export function findLoosened(base: JsonObject, own: JsonObject): string[] {
  const known = complete(base);
  const sent = complete(own);
  return [
    // What is left out says nothing of the base's facts, and takes none away.
    ...STRICT_WHEN_TRUE.filter((fact) => own[fact] === false && known[fact]),
    ...(sent.idempotent && !known.idempotent ? ['idempotent'] : []),
    ...(hasLooserPermission(known, sent) ? ['permission'] : []),
    ...findOtherStructure(known, sent),
  ];
}

function indexByName(tools: readonly JsonObject[]): Map<string, ToolRegistration> {
  return new Map(tools.map((tool) => [keyOf(nameOf(tool)), complete(tool)]));
}

/** Every operation registered for a tenant, by name; what a registration leaves out is filled in. */
export function listToolEntries({ base, tools }: Rules): ToolEntry[] {
  const own = indexByName(tools);
  const entries = new Map<string, ToolEntry>();
  for (const [key, known] of indexByName(base.tools)) {
    const tightening = own.get(key);
    const registration = tightening === undefined ? known : tightenTool(known, tightening);
    entries.set(key, { isBase: true, registration });
  }
  for (const [key, registration] of own) {
    if (!entries.has(key)) entries.set(key, { isBase: false, registration });
  }
  return [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** The base set's registration of an operation. */
export function findBaseTool({ base }: Rules, name: ToolName): JsonObject | undefined {
  return base.tools.find((tool) => keyOf(nameOf(tool)) === keyOf(name));
}

/** The rules without the tenant's own registration of an operation. */
export function withoutTool(rules: Rules, name: ToolName): Rules {
  return { ...rules, tools: rules.tools.filter((tool) => keyOf(nameOf(tool)) !== keyOf(name)) };
}
