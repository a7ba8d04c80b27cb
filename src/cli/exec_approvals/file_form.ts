import * as z from 'zod';
import { EXEC_ASKS, EXEC_FALLBACKS, EXEC_SECURITIES, type ExecSettings } from '../../core/exec_approvals.ts';
import {
  type EntryInput,
  type ExecApprovalsInput,
  FULL_FALLBACK_REFUSED,
} from '../../core/exec_approvals_document.ts';
import type { FaultIssue } from '../../core/fault.ts';
import type { JsonValue } from '../../core/json.ts';
import { issuesFromZod } from '../../http/zod_issues.ts';

// The JSON file that agents' hosts keep, with its own names: `askFallback`, `lastUsedAt` in milliseconds and so on.

/** The last millisecond of the year 9999. */
const LATEST_MS = 253_402_300_799_999;

const settings = {
  security: z.enum(EXEC_SECURITIES).optional(),
  ask: z.enum(EXEC_ASKS).optional(),
  askFallback: z
    .enum(EXEC_FALLBACKS, { error: ({ input }) => (input === 'full' ? FULL_FALLBACK_REFUSED : undefined) })
    .optional(),
  autoAllowSkills: z.boolean().optional(),
};

const entry = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must be 1 to 128 of `A-Z a-z 0-9 . _ -`')
    .optional(),
  pattern: z.string(),
  lastUsedAt: z.int().min(0).max(LATEST_MS).optional(),
  lastUsedCommand: z.string().optional(),
  lastResolvedPath: z.string().optional(),
});

const file = z.strictObject({
  version: z.literal(1),
  socket: z.unknown().optional(),
  defaults: z.strictObject(settings).optional(),
  agents: z
    .record(z.string(), z.strictObject({ ...settings, allowlist: z.array(entry).optional() }))
    .optional(),
});

type FileSettings = z.output<z.ZodObject<typeof settings, z.core.$strict>>;
type FileEntry = z.output<typeof entry>;

export type ReadFileForm =
  | { kind: 'read'; document: ExecApprovalsInput; hasSocket: boolean }
  | { kind: 'refused'; issues: FaultIssue[] };

/** A file as a document; refused with pointers into the file, for unknown members too. `socket` is left out. */
export function readFileForm(value: JsonValue): ReadFileForm {
  const parsed = file.safeParse(value);
  if (!parsed.success) return { kind: 'refused', issues: issuesFromZod(parsed.error) };
  const { version, socket, defaults = {}, agents = {} } = parsed.data;
  const read = Object.entries(agents).map(([agent, { allowlist, ...of }]) => [
    agent,
    { ...fromFileSettings(of), allowlist: allowlist?.map(fromFileEntry) },
  ]);
  const document = { version, defaults: fromFileSettings(defaults), agents: Object.fromEntries(read) };
  return { kind: 'read', document, hasSocket: socket !== undefined };
}

function fromFileSettings({ security, ask, askFallback, autoAllowSkills }: FileSettings): ExecSettings {
  return { security, ask, ask_fallback: askFallback, auto_allow_skills: autoAllowSkills };
}

function fromFileEntry({ id, pattern, lastUsedAt, ...last }: FileEntry): EntryInput {
  return {
    id,
    pattern,
    last_used_at: lastUsedAt === undefined ? undefined : new Date(lastUsedAt).toISOString(),
    last_used_command: last.lastUsedCommand,
    last_resolved_path: last.lastResolvedPath,
  };
}

/** A document as a file; what is not set is left out. */
export function toFileForm({ version, defaults, agents }: ExecApprovalsInput): z.input<typeof file> {
  const written = Object.entries(agents).map(([agent, { allowlist, ...of }]) => [
    agent,
    { ...toFileSettings(of), allowlist: allowlist?.map(toFileEntry) },
  ]);
  return { version, defaults: toFileSettings(defaults), agents: Object.fromEntries(written) };
}

function toFileSettings({ security, ask, ask_fallback, auto_allow_skills }: ExecSettings): FileSettings {
  return { security, ask, askFallback: ask_fallback, autoAllowSkills: auto_allow_skills };
}

function toFileEntry({ id, pattern, ...last }: EntryInput): FileEntry {
  return {
    id,
    pattern,
    lastUsedAt: last.last_used_at === undefined ? undefined : Date.parse(last.last_used_at),
    lastUsedCommand: last.last_used_command,
    lastResolvedPath: last.last_resolved_path,
  };
}
