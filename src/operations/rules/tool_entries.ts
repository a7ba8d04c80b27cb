import { canonicalize } from '../../core/canonical_json.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { PERMISSIONS } from '../../core/policy.ts';
import type { Rules } from '../../core/rules.ts';
import { keyOf, nameOf, type ToolName } from './tool_names.ts';

// Registrations are kept as they were sent, and read by the compiler, which judges them. Here they are only found,
// compared with the base, and shown with what is left out filled in.

/** Facts of which true is the stricter; of `idempotent` it is false. */
const STRICT_WHEN_TRUE = ['mutates_state', 'destructive', 'requires_approval'] as const;

/** What a registration has that leaves these members out. */
const LEFT_OUT = {
  idempotent: false,
  destructive: false,
  requires_approval: false,
  permission: null,
  aliases: [],
  parameters_schema: null,
  facts_by: null,
  secret_parameters: [],
  path_parameters: [],
  host_parameters: [],
  workspace_root: null,
  command_parameter: null,
  argv_parameter: null,
} as const satisfies JsonObject;

/** What a tool is, beside its facts and permission; in the base set it is given. */
const STRUCTURE = [
  'aliases',
  'parameters_schema',
  'facts_by',
  'path_parameters',
  'host_parameters',
  'workspace_root',
  'command_parameter',
  'argv_parameter',
] as const;

/** A registered operation as it holds for a tenant. */
export interface ToolEntry {
  /** Whether it is of the base set; then a tenant's own registration only tightens it. */
  isBase: boolean;
  registration: JsonObject;
}

/** No permission leaves a tool to its tier, which `allow` lifts. */
const PERMISSIONS_BY_STRICTNESS: readonly JsonValue[] = [
  ...PERMISSIONS.filter((one) => one !== 'allow'),
  null,
  'allow',
];

function looseness(permission: JsonValue | undefined): number {
  return PERMISSIONS_BY_STRICTNESS.indexOf(permission ?? null);
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** The members by which a tenant's registration would loosen a base tool, or make another tool of it. */
export function findLoosened(base: JsonObject, own: JsonObject): string[] {
  const known: JsonObject = { ...LEFT_OUT, ...base };
  const isLooser = (member: string, loose: boolean) => own[member] === loose && known[member] !== loose;
  return [
    ...STRICT_WHEN_TRUE.filter((member) => isLooser(member, false)),
    ...(isLooser('idempotent', true) ? ['idempotent'] : []),
    ...(isEmpty(own.permission) || looseness(own.permission) <= looseness(known.permission)
      ? []
      : ['permission']),
    ...STRUCTURE.filter(
      (member) =>
        !isEmpty(own[member]) && canonicalize(own[member] ?? null) !== canonicalize(known[member] ?? null),
    ),
  ];
}

/** The stricter of two registrations' facts; those left out are false. */
function strictestFacts(one: JsonObject, other: JsonObject): JsonObject {
  const strict = STRICT_WHEN_TRUE.map((fact) => [fact, one[fact] === true || other[fact] === true]);
  const idempotent = one.idempotent === true && other.idempotent === true;
  return { ...Object.fromEntries(strict), idempotent };
}

/** A base tool as a tenant's registration tightens it: the stricter of both in everything. */
function tighten(base: JsonObject, own: JsonObject): JsonObject {
  const factsBy = base.facts_by as { parameter: string; values: Record<string, JsonObject> } | null;
  const values = Object.entries(factsBy?.values ?? {}).map(([value, facts]) => [
    value,
    strictestFacts({ ...base, ...facts }, own),
  ]);
  const secrets = [own, base].flatMap(({ secret_parameters: names }) => (Array.isArray(names) ? names : []));
  const isStricter = !isEmpty(own.permission) && looseness(own.permission) < looseness(base.permission);
  return {
    ...base,
    ...strictestFacts(base, own),
    secret_parameters: [...new Set(secrets)],
    permission: (isStricter ? own.permission : base.permission) ?? null,
    facts_by: factsBy && { parameter: factsBy.parameter, values: Object.fromEntries(values) },
  };
}

function indexByName(tools: readonly JsonObject[]): Map<string, JsonObject> {
  return new Map(tools.map((tool) => [keyOf(nameOf(tool)), { ...LEFT_OUT, ...tool, ...nameOf(tool) }]));
}

/** Every operation registered for a tenant, by name; what a registration leaves out is filled in. */
export function listToolEntries({ base, tools }: Rules): ToolEntry[] {
  const own = indexByName(tools);
  const entries = new Map<string, ToolEntry>();
  for (const [key, known] of indexByName(base.tools)) {
    const tightening = own.get(key);
    const registration = tightening === undefined ? known : tighten(known, tightening);
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
