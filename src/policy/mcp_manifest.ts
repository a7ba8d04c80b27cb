import { z } from 'zod';
import { normalizeIdentifier } from '../core/identifiers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { formatPointer, RESERVED_MEMBERS } from '../core/json_rules.ts';
import { COMMAND_NAMES } from './registration_faults.ts';

/** A tool that an MCP server lists, as far as a registration can use it. */
export interface McpTool {
  name: string;
  inputSchema: JsonObject | null;
  readOnlyHint: boolean | undefined;
  destructiveHint: boolean | undefined;
  idempotentHint: boolean | undefined;
}

export interface McpManifest {
  /** What the server calls itself, if the manifest says so. */
  serverName: string | null;
  tools: McpTool[];
  /** Whether the server has more tools than these: the answer was one page of several. */
  goesOn: boolean;
}

/** An operation of a tool file, with what whoever imports it should know. */
export interface ImportedOperation {
  action: string;
  members: JsonObject;
  notes: string[];
}

const NAME_SHOWN_MAX = 80;

const object = z.custom<JsonObject>(isJsonObject, 'must be an object');

// Members that are not named here are dropped: what a later MCP adds is no fault.
const mcpTool = z.object({
  name: z.string(),
  inputSchema: object.nullish(),
  annotations: z
    .object({
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
    })
    .nullish(),
});

const toolList = z.object({ tools: z.array(mcpTool), nextCursor: z.string().nullish() });
const named = z.object({
  name: z.string().optional(),
  serverInfo: z.object({ name: z.string().optional() }).optional(),
});

/**
 * Reads an MCP server's list of tools (Model Context Protocol, `tools/list`): `{tools: […]}`, the whole answer
 * `{result: {tools: […]}}`, or the list alone. Members it does not know are ignored; those it knows must fit.
 */
export function parseMcpManifest(
  value: JsonValue,
): { kind: 'manifest'; manifest: McpManifest } | { kind: 'refused'; issues: string[] } {
  const { list, prefix } = findList(value);
  const parsed = toolList.safeParse(list);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      ({ path, message }) => `\`${prefix}${formatPointer(path.map(String))}\`: ${message}`,
    );
    return { kind: 'refused', issues };
  }
  const tools = parsed.data.tools.map(
    ({ name, inputSchema, annotations }): McpTool => ({
      name,
      inputSchema: inputSchema ?? null,
      readOnlyHint: annotations?.readOnlyHint,
      destructiveHint: annotations?.destructiveHint,
      idempotentHint: annotations?.idempotentHint,
    }),
  );
  const issues = findNameIssues(tools);
  if (issues.length > 0) return { kind: 'refused', issues };
  const goesOn = parsed.data.nextCursor != null;
  return { kind: 'manifest', manifest: { serverName: findServerName(value), tools, goesOn } };
}

/**
 * A registration of an MCP tool. Its facts come from the server's hints alone, read as MCP defines them: what is not
 * hinted to be harmless is taken to change and to destroy.
 */
export function toOperation(tool: McpTool): ImportedOperation {
  const { facts, notes } = readFacts(tool);
  const { schema, notes: schemaNotes } = readSchema(tool.inputSchema);
  const commands = COMMAND_NAMES.filter((name) => isString(schema?.properties, name));
  const [command] = commands;
  return {
    action: tool.name,
    members: {
      ...facts,
      ...(command === undefined ? {} : { command_parameter: command }),
      ...(schema === null ? {} : { parameters_schema: schema }),
    },
    notes: [...notes, ...schemaNotes, ...noteCommands(commands)],
  };
}

function findList(value: JsonValue): { list: JsonValue; prefix: string } {
  if (Array.isArray(value)) return { list: { tools: value }, prefix: '' };
  const result = isJsonObject(value) ? value.result : undefined;
  return result === undefined ? { list: value, prefix: '' } : { list: result, prefix: '/result' };
}

function findServerName(value: JsonValue): string | null {
  const levels = isJsonObject(value) ? [value, value.result ?? null] : [];
  for (const level of levels) {
    const parsed = named.safeParse(level);
    const name = parsed.data?.serverInfo?.name ?? parsed.data?.name;
    if (name !== undefined) return name;
  }
  return null;
}

function findNameIssues(tools: readonly McpTool[]): string[] {
  const seen = new Map<string, string>();
  return tools.flatMap(({ name }, index) => {
    const which = `tool ${index + 1}, \`${shorten(name)}\``;
    const normalized = normalizeIdentifier(name);
    if (normalized.kind === 'refused') return [`${which}: its name ${normalized.reason}`];
    if (RESERVED_MEMBERS.has(name)) return [`${which}: its name is reserved`];
    const earlier = seen.get(normalized.normal);
    seen.set(normalized.normal, name);
    if (earlier === undefined) return [];
    return [`${which}: its name, in lower case and decoded, is that of \`${shorten(earlier)}\``];
  });
}

function shorten(name: string): string {
  return name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}…` : name;
}

function readFacts(tool: McpTool): { facts: JsonObject; notes: string[] } {
  const { readOnlyHint, destructiveHint, idempotentHint } = tool;
  // MCP reads the other hints only where a tool is not read-only. Of two that contradict each other the stricter holds.
  const contradicts = readOnlyHint === true && destructiveHint === true;
  if (readOnlyHint === true && !contradicts) {
    return { facts: { mutates_state: false, idempotent: true, destructive: false }, notes: [] };
  }
  const hintsNothing = [readOnlyHint, destructiveHint, idempotentHint].every((hint) => hint === undefined);
  return {
    facts: {
      mutates_state: true,
      idempotent: idempotentHint === true && !contradicts,
      destructive: destructiveHint !== false,
    },
    notes: [
      ...(contradicts ? ['hints to be read-only and destructive: taken as destructive'] : []),
      ...(hintsNothing ? ['hints nothing: taken to change and to destroy'] : []),
    ],
  };
}

/** Dialects whose schemas mean the same in 2020-12, or are refused there. */
const KNOWN_DIALECT = /^https?:\/\/json-schema\.org\/(draft-0[67]|draft\/(2019-09|2020-12))\/schema#?$/;

function readSchema(schema: JsonObject | null): { schema: JsonObject | null; notes: string[] } {
  if (schema === null) {
    return { schema: null, notes: ['has no schema: its parameters are neither checked nor shown to policy'] };
  }
  const { $schema: dialect, ...rest } = schema;
  if (typeof dialect !== 'string' || !KNOWN_DIALECT.test(dialect)) return { schema, notes: [] };
  const isNewest = dialect.includes('2020-12');
  return { schema: rest, notes: isNewest ? [] : ['its schema is read as one of 2020-12'] };
}

function noteCommands([command, ...others]: readonly string[]): string[] {
  if (command === undefined) return [];
  const rest =
    others.length === 0 ? '' : `; \`${others.join('`, `')}\` may hold one too and is not read as one`;
  return [`\`${command}\` is taken to hold a command line${rest}`];
}

function isString(properties: JsonValue | undefined, name: string): boolean {
  const property = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isJsonObject(property) && property.type === 'string';
}
