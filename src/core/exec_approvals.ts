// What an operator lets agents run, as data. Members keep their wire names: the stored document is what is shown.

/** What an agent may run at all, strictest first. */
export const EXEC_SECURITIES = ['deny', 'allowlist', 'full'] as const;
export type ExecSecurity = (typeof EXEC_SECURITIES)[number];

/** When a person is asked, strictest first. */
export const EXEC_ASKS = ['always', 'on-miss', 'off'] as const;
export type ExecAsk = (typeof EXEC_ASKS)[number];

/** What holds when nobody could answer, strictest first. */
export const EXEC_FALLBACKS = ['deny', 'allowlist'] as const;
export type ExecFallback = (typeof EXEC_FALLBACKS)[number];

/** The agent whose settings and allowlist are a baseline for every agent. */
export const EVERY_AGENT = '*';

export interface ExecSettings {
  security?: ExecSecurity | undefined;
  ask?: ExecAsk | undefined;
  ask_fallback?: ExecFallback | undefined;
  auto_allow_skills?: boolean | undefined;
}

export interface AllowlistEntry {
  id: string;
  /** An absolute path, or one that starts with `~/`; `*` stands for part of a name, `**` for any folders. */
  pattern: string;
}

/** What became of an entry; filled in by the service. */
export interface EntryUsage {
  last_used_at?: string | undefined;
  /** Masked. */
  last_used_command?: string | undefined;
  last_resolved_path?: string | undefined;
}

export interface AgentExecSettings<Entry extends AllowlistEntry = AllowlistEntry> extends ExecSettings {
  allowlist?: Entry[] | undefined;
}

/** The whole document; `agents` are by principal in lower case, and `*`. */
export interface ExecApprovalsDocument<Entry extends AllowlistEntry = AllowlistEntry> {
  version: 1;
  defaults: ExecSettings;
  agents: Record<string, AgentExecSettings<Entry>>;
}

/** A document as it stands, with usage filled in. */
export type ShownExecApprovals = ExecApprovalsDocument<AllowlistEntry & EntryUsage>;

/** What one document says of one agent, defaults filled in. */
export interface ExecRules {
  security: ExecSecurity;
  ask: ExecAsk;
  askFallback: ExecFallback;
  autoAllowSkills: boolean;
  allowlist: AllowlistEntry[];
}

/**
 * What the documents in force say of an agent: the tenant's, and the node's where the call's workspace has one. Null
 * where nothing is stored.
 */
export interface AgentExecRules {
  tenant: ExecRules | null;
  node: ExecRules | null;
}

export const NO_EXEC_RULES: AgentExecRules = { tenant: null, node: null };

/** What is read where nothing is stored. */
export const EMPTY_EXEC_APPROVALS: ExecApprovalsDocument = { version: 1, defaults: {}, agents: {} };

/**
 * What a stored document says of an agent: its own settings over those of `*` over the defaults, its allowlist added
 * to that of `*`. What is set nowhere is `deny`, `on-miss`, `deny`, false.
 */
export function resolveExecRules({ defaults, agents }: ExecApprovalsDocument, agent: string): ExecRules {
  const every = agents[EVERY_AGENT] ?? {};
  const name = agent.toLowerCase();
  const own = (name !== EVERY_AGENT && Object.hasOwn(agents, name) ? agents[name] : undefined) ?? {};
  const pick = <Member extends keyof ExecSettings>(member: Member) =>
    own[member] ?? every[member] ?? defaults[member];
  return {
    security: pick('security') ?? 'deny',
    ask: pick('ask') ?? 'on-miss',
    askFallback: pick('ask_fallback') ?? 'deny',
    autoAllowSkills: pick('auto_allow_skills') ?? false,
    allowlist: [...(every.allowlist ?? []), ...(own.allowlist ?? [])],
  };
}

/** Whether a person is asked for what an agent's allowlist does not cover. */
export function asksOnMiss(rules: ExecRules | null): boolean {
  return rules?.security === 'allowlist' && rules.ask === 'on-miss';
}
