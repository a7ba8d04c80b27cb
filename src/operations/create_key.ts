import { type KeyLimits, NO_LIMITS, type Role } from '../core/caller.ts';
import { Fault, type FaultIssue } from '../core/fault.ts';
import type { KeyRecord } from '../core/ports.ts';
import type { Deps } from './deps.ts';
import { makeToken } from './make_token.ts';

export interface CreateKeyInput {
  principal: string;
  roles: Role[];
  groups: string[];
  owner: string | undefined;
  expiresAt: Date | undefined;
  /** Limits given; each is for agents only. */
  limits: { [Limit in keyof KeyLimits]?: KeyLimits[Limit] | undefined };
}

/** Who makes a key: a caller of the API, or whoever reaches the database, without principal and key. */
export interface KeyMaker {
  tenantId: string;
  principal: string | null;
  keyId: string | null;
}

const LIMIT_POINTERS: Record<keyof KeyLimits, string> = {
  sourceTrustCeiling: '/source_trust_ceiling',
  environments: '/environments',
  workspaces: '/workspaces',
  unattended: '/unattended',
  workspaceRoot: '/workspace_root',
  skill: '/skill',
};

function findIssues(input: CreateKeyInput, now: Date): FaultIssue[] {
  const issues: FaultIssue[] = [];
  const isAgent = input.roles.includes('agent');
  const refuse = (pointer: string, reason: string) => issues.push({ pointer, reason });
  if (input.roles.includes('platform')) refuse('/roles', '`platform` is never granted by the API');
  if (isAgent && input.roles.includes('operator')) refuse('/roles', '`agent` excludes `operator`');
  if (input.owner !== undefined && !isAgent) refuse('/owner', 'only an agent has an owner');
  if (input.expiresAt !== undefined && input.expiresAt <= now)
    refuse('/expires_at', 'must lie in the future');
  for (const limit of Object.keys(LIMIT_POINTERS) as (keyof KeyLimits)[]) {
    if (input.limits[limit] !== undefined && !isAgent)
      refuse(LIMIT_POINTERS[limit], 'only an agent key has it');
  }
  return issues;
}

/** Fills in the limits that were not given. */
function completeLimits(given: CreateKeyInput['limits']): KeyLimits {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...NO_LIMITS, ...(Object.fromEntries(entries) as Partial<KeyLimits>) };
}

/**
 * Makes a key of the maker's tenant; the token is in the answer and nowhere else.
 * @throws Fault `invalid_request` for roles or limits that do not go together.
 */
export async function createKey(
  deps: Pick<Deps, 'now' | 'newUuid' | 'newSecret'> & { keys: Pick<Deps['keys'], 'createKey'> },
  maker: KeyMaker,
  input: CreateKeyInput,
): Promise<{ record: KeyRecord; token: string }> {
  const issues = findIssues(input, deps.now());
  if (issues.length > 0)
    throw new Fault('invalid_request', 'the key cannot be made so. See `errors`', { issues });
  const { keyId, token, tokenHash } = makeToken(deps);
  const record = await deps.keys.createKey(
    {
      tenantId: maker.tenantId,
      keyId,
      tokenHash,
      principal: input.principal,
      roles: [...new Set(input.roles)],
      groups: input.groups,
      owner: input.owner ?? null,
      defaultOwner: input.roles.includes('agent') ? maker.principal : null,
      limits: completeLimits(input.limits),
      createdBy: maker.principal,
      expiresAt: input.expiresAt ?? null,
      origin: maker.keyId === null ? 'command' : 'api',
    },
    maker.keyId,
  );
  return { record, token };
}
