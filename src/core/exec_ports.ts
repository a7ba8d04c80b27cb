import type { Writer } from './agent_ports.ts';
import type { AgentExecRules, ShownExecApprovals } from './exec_approvals.ts';

// What the operations need to know and keep of exec approvals. Errors are those of `ports.ts`.

/** A document and the SHA-256 of its canonical form, usage left out. */
export interface StoredExecApprovals {
  document: ShownExecApprovals;
  hash: string;
  /** When it was last replaced or added to. */
  updatedAt: Date;
}

/** The hashes of the documents that a decision was made from; null where nothing was stored. */
export interface SeenExecApprovals {
  tenant: string | null;
  /** The workspace whose document was looked for as the node's; null for none. */
  workspace: string | null;
  node: string | null;
}

/** An entry that let an executable of a command run. */
export interface EntryUse {
  entryId: string;
  document: 'tenant' | 'node';
  /** Masked. */
  command: string;
  resolvedPath: string;
}

/** What a decision on a command rests on: it is recorded only while the documents are those seen. */
export interface ExecGround {
  seen: SeenExecApprovals;
  /** Recorded with a decision that allows. */
  uses: EntryUse[];
}

export interface ExecApprovalsStore {
  /** What the documents say of an agent, and which they are. The node's is that of the call's workspace. */
  readRules(
    tenantId: string,
    agent: string,
    workspace: string | null,
  ): Promise<{ rules: AgentExecRules; seen: SeenExecApprovals }>;
  /** The tenant's document, or a node's; undefined when nothing is stored. */
  find(tenantId: string, nodeId: string | null): Promise<StoredExecApprovals | undefined>;
  /**
   * Replaces a document, in one statement that judges `baseHash`: undefined replaces whatever is there, null only
   * nothing. Usage stays with the entries that keep their ids; what the document brings of it counts for new ones.
   * @throws Fault `base_hash_mismatch` with the present hash as `hash`; `unauthenticated` when the writer's key no longer stands.
   */
  put(
    writer: Writer,
    nodeId: string | null,
    document: ShownExecApprovals,
    baseHash: string | null | undefined,
  ): Promise<StoredExecApprovals>;
}
