import * as z from 'zod';
import { assertionResponse, attestationResponse } from '../../core/webauthn_responses.ts';
import { beginRegistration } from '../../operations/webauthn/begin_registration.ts';
import { createEnrolmentCode } from '../../operations/webauthn/create_enrolment_code.ts';
import { finishRegistration } from '../../operations/webauthn/finish_registration.ts';
import { listPasskeys } from '../../operations/webauthn/list_passkeys.ts';
import { removePasskey } from '../../operations/webauthn/remove_passkey.ts';
import { defineRoute } from '../route.ts';
import { instant, jsonObject, plainText, principalName } from '../schemas/common.ts';
import { passkeyOutput, toWirePasskey } from '../schemas/webauthn.ts';

const CODE_MAX = 128;
const LABEL_MAX = 128;

/** Options as a browser takes them (Web Authentication Level 3 §5.1.8). */
const creationOptions = jsonObject.meta({
  description: 'for `PublicKeyCredential.parseCreationOptionsFromJSON()`',
});
const requestOptions = jsonObject.meta({
  description: 'for `PublicKeyCredential.parseRequestOptionsFromJSON()`',
});

export const createEnrolmentCodeRoute = defineRoute({
  operationId: 'createEnrolmentCode',
  summary: 'Make a code with which a principal registers a first passkey',
  description:
    'The code works once, within an hour, with a key of that principal; codes made for it before are void. Hand it over in person or on a channel that the key is not on.',
  method: 'post',
  path: '/v1/principals/:id/enrolment-codes',
  params: { id: 'the principal' },
  roles: ['operator'],
  success: {
    status: 201,
    description: 'the code, shown once',
    schema: z
      .strictObject({ code: z.string(), principal: z.string(), expires_at: instant })
      .meta({ id: 'EnrolmentCode' }),
  },
  problems: ['not_found'],
  handle: async ({ deps, caller, id }) => {
    const { code, principal, expiresAt } = await createEnrolmentCode(deps, caller, id);
    return { body: { code, principal, expires_at: expiresAt.toISOString() } };
  },
});

export const beginRegistrationRoute = defineRoute({
  operationId: 'beginPasskeyRegistration',
  summary: 'Get what a browser needs to make a passkey',
  description:
    'The first passkey needs `code`, from an operator. Each further one is confirmed by an older one, which signs `assertion_options`.',
  method: 'post',
  path: '/v1/webauthn/registrations',
  roles: ['approver'],
  body: z
    .strictObject({ code: plainText(CODE_MAX).nullish() })
    .meta({ id: 'BeginPasskeyRegistrationRequest' }),
  bodyOptional: true,
  success: {
    status: 200,
    description: 'options for the new passkey, and for the older one that confirms it',
    schema: z
      .strictObject({
        options: creationOptions,
        assertion_options: requestOptions.nullable(),
        expires_at: instant,
      })
      .meta({ id: 'PasskeyRegistrationOptions' }),
  },
  problems: ['signature_invalid'],
  handle: async ({ deps, caller, body }) => {
    const begun = await beginRegistration(deps, caller, body.code ?? undefined);
    return {
      body: {
        options: begun.options,
        assertion_options: begun.assertionOptions,
        expires_at: begun.expiresAt.toISOString(),
      },
    };
  },
});

export const finishRegistrationRoute = defineRoute({
  operationId: 'finishPasskeyRegistration',
  summary: 'Keep a new passkey',
  method: 'post',
  path: '/v1/webauthn/registrations/verify',
  roles: ['approver'],
  body: z
    .strictObject({
      registration: attestationResponse,
      assertion: assertionResponse.nullish(),
      label: plainText(LABEL_MAX).nullish(),
    })
    .meta({ id: 'FinishPasskeyRegistrationRequest' }),
  success: { status: 201, description: 'the passkey', schema: passkeyOutput },
  problems: ['signature_required', 'signature_invalid', 'not_found'],
  handle: async ({ deps, caller, body }) => {
    const passkey = await finishRegistration(deps, caller, {
      registration: body.registration,
      assertion: body.assertion ?? undefined,
      label: body.label ?? undefined,
    });
    return { body: toWirePasskey(passkey) };
  },
});

export const listPasskeysRoute = defineRoute({
  operationId: 'listPasskeys',
  summary: 'List the passkeys of a principal, oldest first',
  description: 'The caller’s own; an operator names any `principal`.',
  method: 'get',
  path: '/v1/webauthn/passkeys',
  roles: ['approver', 'operator'],
  query: z.strictObject({ principal: principalName.optional() }),
  success: {
    status: 200,
    description: 'the passkeys',
    schema: z
      .strictObject({ items: z.array(passkeyOutput), next_cursor: z.null() })
      .meta({ id: 'PasskeyPage' }),
  },
  problems: [],
  handle: async ({ deps, caller, query }) => {
    const passkeys = await listPasskeys(deps, caller, query.principal);
    return { body: { items: passkeys.map(toWirePasskey), next_cursor: null } };
  },
});

export const removePasskeyRoute = defineRoute({
  operationId: 'removePasskey',
  summary: 'Remove a passkey',
  description:
    'One of the caller’s own; an operator removes anybody’s. Votes that it signed stand; it signs no more.',
  method: 'delete',
  path: '/v1/webauthn/passkeys/:id',
  params: { id: "the passkey's `credential_id`" },
  roles: ['approver', 'operator'],
  success: { status: 204, description: 'removed' },
  problems: ['not_found'],
  handle: async ({ deps, caller, id }) => {
    await removePasskey(deps, caller, id);
    return {};
  },
});
