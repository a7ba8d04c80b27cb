import type { PolicyTexts } from '../../../core/rules.ts';
import { getPolicies } from '../../../operations/rules/get_policies.ts';
import { listTools } from '../../../operations/rules/list_tools.ts';
import type { PoliciesInForce } from '../../../operations/rules/policies_in_force.ts';
import type { ToolEntry } from '../../../operations/rules/tool_entries.ts';
import { type Words, wordsFor } from '../../../operations/show_words.ts';
import { definePage } from '../../page.ts';
import { SECTIONS } from '../../sections.ts';
import { ListTable } from '../shared/list_table.tsx';
import { Facts, Foreign, Hash } from '../shared/parts.tsx';
import { When } from '../shared/when.tsx';

function Texts({ title, id, texts, words }: { title: string; id: string; texts: PolicyTexts; words: Words }) {
  const policies = Object.entries(texts);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title} <span class="count">{policies.length}</span>
      </h2>
      {policies.length === 0 && <p class="empty">None.</p>}
      {policies.map(([name, text]) => (
        <details id={`policy-${name}`}>
          <summary>
            <code>{name}</code>
          </summary>
          <pre class="value">{words.lines(text).join('\n')}</pre>
        </details>
      ))}
    </section>
  );
}

const FACTS = ['mutates_state', 'idempotent', 'destructive', 'requires_approval'] as const;

function Tools({ entries, words }: { entries: readonly ToolEntry[]; words: Words }) {
  return (
    <section aria-labelledby="tools">
      <h2 id="tools">
        Tools <span class="count">{entries.length}</span>
      </h2>
      <ListTable
        caption="Registered tools, by name"
        columns={['Tool', 'Operation', 'Facts', 'Permission', 'From']}
      >
        {entries.map(({ isBase, registration }) => (
          <tr>
            <th scope="row" data-label="Tool">
              <Foreign words={words} text={registration.tool} />
            </th>
            <td data-label="Operation">
              <Foreign words={words} text={registration.action} />
            </td>
            <td data-label="Facts">
              {FACTS.filter((fact) => registration[fact])
                .map((fact) => fact.replaceAll('_', ' '))
                .join(', ') || 'none'}
            </td>
            <td data-label="Permission">{registration.permission ?? '–'}</td>
            <td data-label="From">{isBase ? 'the base set' : 'this tenant'}</td>
          </tr>
        ))}
      </ListTable>
    </section>
  );
}

function InForce({
  policies,
  entries,
  words,
}: {
  policies: PoliciesInForce;
  entries: readonly ToolEntry[];
  words: Words;
}) {
  const { revision, activatedAt, activatedBy, base, tenant, warnings } = policies;
  return (
    <>
      <Facts
        items={[
          ['revision', <Hash value={revision} />],
          ['active since', <When at={activatedAt} />],
          ['activated by', activatedBy ?? 'the policy folder'],
        ]}
      />
      {warnings.length > 0 && (
        <section class="notice" aria-labelledby="policy-warnings">
          <h2 id="policy-warnings">Warnings</h2>
          <ul>
            {warnings.map(({ policyId, message, help }) => (
              <li>
                <code>{policyId}</code>: {message}. {help}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Texts title="Policies of this tenant" id="tenant-policies" texts={tenant} words={words} />
      <Texts title="Policies of the base set" id="base-policies" texts={base} words={words} />
      <Tools entries={entries} words={words} />
    </>
  );
}

export const policyPage = definePage({
  method: 'get',
  path: SECTIONS.policy.path,
  operation: 'rules/get_policies',
  roles: SECTIONS.policy.roles,
  section: 'policy',
  handle: async ({ deps, caller }) => {
    const words = wordsFor(caller);
    const isOperator = caller.roles.includes('operator');
    const [policies, tools] = isOperator
      ? await Promise.all([getPolicies(deps, caller), listTools(deps, caller)])
      : [null, null];
    return {
      kind: 'html',
      title: 'Policy',
      scripts: ['keys.js'],
      body: (
        <>
          <h1>Policy</h1>
          {policies === null ? (
            <>
              <Facts items={[['revision', <Hash value={caller.tenant.activeRevision} />]]} />
              <p class="empty">
                Policies and tools are shown to operators; you are signed in without that role. Each approval
                says why it is asked for, and which policies ask.
              </p>
            </>
          ) : (
            <InForce policies={policies} entries={tools.entries} words={words} />
          )}
        </>
      ),
    };
  },
});
