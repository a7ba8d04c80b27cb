import type { Caller } from '../../core/caller.ts';
import type { JsonObject } from '../../core/json.ts';
import { type AuthorizeAnswer, authorize } from '../authorize.ts';
import type { Deps } from '../deps.ts';

/** A command as an agent's runtime asks for it. */
export interface CommandRequest {
  command: string;
  argv: string[] | undefined;
  cwd: string | undefined;
  env: Record<string, string> | undefined;
  resolvedPaths: string[] | undefined;
  sessionId: string | undefined;
}

function toParameters({ command, argv, cwd, env, resolvedPaths }: CommandRequest): JsonObject {
  return {
    command,
    ...(argv !== undefined && { argv }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(resolvedPaths !== undefined && { resolved_paths: resolvedPaths }),
  };
}

/**
 * Asks for a command as a call of `shell`/`exec`. Its origin is as trusted as the key's ceiling lets it be: this
 * request has no member to say it by, and a runtime whose commands come from elsewhere has a key that says so.
 * `askerConnection` is the connection that an ask ends with; null for one that outlives it.
 * @throws Fault as `authorize`.
 */
export async function requestCommand(
  deps: Deps,
  caller: Caller,
  request: CommandRequest,
  askerConnection: string | null,
): Promise<AuthorizeAnswer> {
  const { answer } = await authorize(deps, caller, {
    toolCall: {
      tool: 'shell',
      action: 'exec',
      resource: null,
      mutates_state: true,
      parameters: toParameters(request),
    },
    actionHash: undefined,
    context: { source_trust: 'trusted_internal', session_id: request.sessionId },
    dryRun: false,
    idempotency: undefined,
    ...(askerConnection !== null && { askerConnection }),
  });
  return answer;
}
