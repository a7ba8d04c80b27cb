import type { Grant } from '../../../core/agent_ports.ts';
import { formatId } from '../../../core/ids.ts';
import { listGrants } from '../../../operations/list_grants.ts';
import { revokeGrant } from '../../../operations/revoke_grant.ts';
import { type Words, wordsFor } from '../../../operations/show_words.ts';
import { CsrfField } from '../../csrf_field.tsx';
import { definePage } from '../../page.ts';
import { SECTIONS } from '../../sections.ts';
import { agentPath, approvalPath, sessionPath } from '../shared/links.ts';
import { ListTable } from '../shared/list_table.tsx';
import { Foreign } from '../shared/parts.tsx';
import { When } from '../shared/when.tsx';

function usesOf({ uses, maxUses }: Grant): string {
  return maxUses === null ? `${uses}` : `${uses} of ${maxUses}`;
}

function Place({ grant: { agent, sessionId, runId }, words }: { grant: Grant; words: Words }) {
  return (
    <>
      <a href={agentPath(agent)}>{agent}</a>
      {sessionId !== null && (
        <>
          {', session '}
          <a href={sessionPath(agent, sessionId)}>
            <Foreign words={words} text={sessionId} />
          </a>
        </>
      )}
      {runId !== null && (
        <>
          {', run '}
          <Foreign words={words} text={runId} />
        </>
      )}
    </>
  );
}

function GrantRow({ grant, words, csrf }: { grant: Grant; words: Words; csrf: string }) {
  const { grantId, approvalId, resolved, scope, expiresAt, grantedBy } = grant;
  return (
    <tr>
      <th scope="row" data-label="Action">
        <a class="row-link" href={approvalPath(approvalId)}>
          <Foreign words={words} text={resolved.tool} /> · <Foreign words={words} text={resolved.action} />
        </a>
      </th>
      <td data-label="For">
        <Place grant={grant} words={words} />
      </td>
      <td data-label="Scope">{scope}</td>
      <td data-label="Uses">{usesOf(grant)}</td>
      <td data-label="Ends">
        <When at={expiresAt} />
      </td>
      <td data-label="Granted by">{grantedBy}</td>
      <td data-label="Revoke">
        <form method="post" action={`/console/grants/${formatId('grant', grantId)}/revoke`}>
          <CsrfField token={csrf} />
          <button type="submit" class="button small danger">
            Revoke
            <span class="visually-hidden">
              {' '}
              the grant of {words.line(resolved.tool)} {words.line(resolved.action)} for {grant.agent}
            </span>
          </button>
        </form>
      </td>
    </tr>
  );
}

/** Grants in force, each with its end and a button that ends it now. */
export function GrantTable({
  grants,
  words,
  csrf,
}: {
  grants: readonly Grant[];
  words: Words;
  csrf: string;
}) {
  return (
    <ListTable
      caption="Grants in force, newest first"
      columns={['Action', 'For', 'Scope', 'Uses', 'Ends', 'Granted by', 'Revoke']}
    >
      {grants.map((grant) => (
        <GrantRow {...{ grant, words, csrf }} />
      ))}
    </ListTable>
  );
}

export const grantsPage = definePage({
  method: 'get',
  path: SECTIONS.grants.path,
  operation: 'list_grants',
  roles: SECTIONS.grants.roles,
  section: 'grants',
  handle: async ({ deps, caller, csrf }) => {
    const grants = await listGrants(deps, caller, null);
    return {
      kind: 'html',
      title: 'Grants',
      scripts: ['keys.js'],
      body: (
        <>
          <h1>Grants</h1>
          <p class="muted">A grant lets an agent do the same action again without asking, until it ends.</p>
          {grants.length === 0 ? (
            <p class="empty">No grant is in force.</p>
          ) : (
            <GrantTable {...{ grants, words: wordsFor(caller), csrf }} />
          )}
        </>
      ),
    };
  },
});

export const revokeForm = definePage({
  method: 'post',
  path: '/console/grants/:id/revoke',
  operation: 'revoke_grant',
  roles: ['operator', 'approver'],
  section: 'grants',
  handle: async ({ deps, caller, params }) => {
    await revokeGrant(deps, caller, params.id ?? '');
    return { kind: 'redirect', to: '/console/grants' };
  },
});
