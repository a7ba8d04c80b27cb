import type { Passkey } from '../../../core/webauthn_ports.ts';
import { listPasskeys } from '../../../operations/webauthn/list_passkeys.ts';
import { CsrfField } from '../../csrf_field.tsx';
import { definePage, type PageInput } from '../../page.ts';
import { SECTIONS } from '../../sections.ts';
import { ListTable } from '../shared/list_table.tsx';
import { ActionButton } from '../shared/parts.tsx';
import { When } from '../shared/when.tsx';

const PATH = SECTIONS.passkeys.path;
const NEEDS_SCRIPT = 'a passkey is made with JavaScript';

/** What became of the form before, by the address that it led to. */
const AFTER: Readonly<Record<string, string>> = {
  add: 'The passkey is registered. You can sign votes with it.',
  remove: 'The passkey is removed. What it signed stands.',
};

function PasskeyRow({ passkey, csrf }: { passkey: Passkey; csrf: string }) {
  const { credentialId, label, createdAt, lastUsedAt, isBackedUp } = passkey;
  const name = label ?? `${credentialId.slice(0, 12)}…`;
  return (
    <tr>
      <th scope="row" data-label="Passkey">
        {label === null ? <code>{name}</code> : <bdi>{name}</bdi>}
      </th>
      <td data-label="Kept">{isBackedUp ? 'in more than one place' : 'in one place'}</td>
      <td data-label="Made">
        <When at={createdAt} />
      </td>
      <td data-label="Last used">{lastUsedAt === null ? 'never' : <When at={lastUsedAt} />}</td>
      <td data-label="Remove">
        <form method="post" action={`${PATH}/${credentialId}/remove`}>
          <CsrfField token={csrf} />
          <button type="submit" class="button small danger">
            Remove<span class="visually-hidden"> the passkey {name}</span>
          </button>
        </form>
      </td>
    </tr>
  );
}

function PasskeyTable({ passkeys, csrf }: { passkeys: readonly Passkey[]; csrf: string }) {
  return (
    <ListTable caption="Your passkeys, oldest first" columns={['{heading}']}>
      {passkeys.map((passkey) => (
        <PasskeyRow {...{ passkey, csrf }} />
      ))}
    </ListTable>
  );
}

/** The script fills in what the browser answers, then sends the form. */
function AddForm({ isFirst, csrf }: { isFirst: boolean; csrf: string }) {
  return (
    <section aria-labelledby="add-title">
      <h2 id="add-title">{isFirst ? 'Register your first passkey' : 'Add another passkey'}</h2>
      <p>
        {isFirst
          ? 'An operator gives you a code, which works once, within an hour.'
          : 'You confirm it with one that you have.'}
      </p>
      <form id="passkey-form" method="post" action={PATH} data-passkey-options={`${PATH}/options`}>
        <CsrfField token={csrf} />
        <input type="hidden" name="registration" value="" />
        <input type="hidden" name="assertion" value="" />
        {isFirst && (
          <p class="field">
            <label for="code">Enrolment code</label>
            <input id="code" name="code" required maxlength={128} autocomplete="one-time-code" />
          </p>
        )}
        <p class="field">
          <label for="label">What you call it, if you like</label>
          <input id="label" name="label" maxlength={128} autocomplete="off" />
        </p>
        <ActionButton id="add-button" label="Register" look="primary" obstacle={NEEDS_SCRIPT} />
      </form>
    </section>
  );
}

async function showPasskeys({ deps, caller, csrf, query }: PageInput) {
  const passkeys = await listPasskeys(deps, caller);
  const after = AFTER[query.get('after') ?? ''];
  return (
    <>
      <h1>Passkeys</h1>
      <p class="muted">
        With a passkey you sign your votes, so that anybody can check later that it was you, and what you said
        yes to.
      </p>
      {after !== undefined && (
        <p class="notice" role="status">
          {after}
        </p>
      )}
      {passkeys.length === 0 ? (
        <p class="empty">You have no passkey.</p>
      ) : (
        <PasskeyTable {...{ passkeys, csrf }} />
      )}
      <AddForm isFirst={passkeys.length === 0} csrf={csrf} />
    </>
  );
}

export const passkeysPage = definePage({
  method: 'get',
  path: PATH,
  operation: 'webauthn/list_passkeys',
  roles: SECTIONS.passkeys.roles,
  section: 'passkeys',
  handle: async (input) => ({
    kind: 'html',
    title: 'Passkeys',
    scripts: ['keys.js', 'webauthn.js'],
    body: await showPasskeys(input),
  }),
});
