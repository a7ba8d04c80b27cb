import { guardAttempts } from '../../../operations/attempts.ts';
import { beginRegistration } from '../../../operations/webauthn/begin_registration.ts';
import { finishRegistration } from '../../../operations/webauthn/finish_registration.ts';
import { removePasskey } from '../../../operations/webauthn/remove_passkey.ts';
import { createSignatureOptions } from '../../../operations/webauthn/signature_options.ts';
import { ONCE } from '../../../operations/widen.ts';
import { definePage, type RawAnswer } from '../../page.ts';
import { SECTIONS } from '../../sections.ts';
import { readShown, readWidening } from '../approval/read_forms.ts';
import { readAssertion, readCode, readLabel, readRegistration } from './read_passkey_forms.ts';

const PATH = SECTIONS.passkeys.path;

function json(value: object): RawAnswer {
  return { kind: 'raw', mediaType: 'application/json', content: JSON.stringify(value) };
}

/** For the script: what the browser needs to make a passkey. */
export const passkeyOptions = definePage({
  method: 'post',
  path: `${PATH}/options`,
  operation: 'webauthn/begin_registration',
  roles: ['approver'],
  section: 'passkeys',
  handle: async ({ deps, caller, form }) => {
    const { options, assertionOptions } = await beginRegistration(deps, caller, readCode(form));
    return json({ options, assertion_options: assertionOptions });
  },
});

export const addPasskeyForm = definePage({
  method: 'post',
  path: PATH,
  operation: 'webauthn/finish_registration',
  roles: ['approver'],
  section: 'passkeys',
  handle: async ({ deps, caller, form }) => {
    await finishRegistration(deps, caller, {
      registration: readRegistration(form),
      assertion: readAssertion(form, 'assertion'),
      label: readLabel(form),
    });
    return { kind: 'redirect', to: `${PATH}?after=add` };
  },
});

export const removePasskeyForm = definePage({
  method: 'post',
  path: `${PATH}/:id/remove`,
  operation: 'webauthn/remove_passkey',
  roles: ['approver'],
  section: 'passkeys',
  handle: async ({ deps, caller, params }) => {
    await removePasskey(deps, caller, params.id ?? '');
    return { kind: 'redirect', to: `${PATH}?after=remove` };
  },
});

/** For the script: what a passkey has to sign for the vote that a form of an approval's page is about to send. */
export const signatureOptionsForm = definePage({
  method: 'post',
  path: '/console/approvals/:id/signature-options',
  operation: 'webauthn/signature_options',
  roles: ['approver'],
  section: 'queue',
  handle: async ({ deps, caller, params, form }) => {
    const id = params.id ?? '';
    const decision = form.get('decision') === 'reject' ? 'reject' : 'approve';
    const shown = readShown(form);
    const widening = decision === 'approve' ? readWidening(form) : ONCE;
    const made = await guardAttempts(deps, caller, id, () =>
      createSignatureOptions(deps, caller, id, { ballot: { decision, ...widening }, ...shown }),
    );
    return json({ options: made.options, statement: made.statement });
  },
});
