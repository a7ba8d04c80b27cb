import type * as z from 'zod';
import { Fault } from '../../../core/fault.ts';
import { findUnsafeText } from '../../../core/identifiers.ts';
import { parseStrictJson, StrictJsonError } from '../../../core/strict_json.ts';
import type { AssertionResponse, AttestationResponse } from '../../../core/webauthn_ports.ts';
import { assertionResponse, attestationResponse } from '../../../core/webauthn_responses.ts';

type Form = ReadonlyMap<string, string>;

const LABEL_MAX = 128;
const CODE_MAX = 128;

function unreadable(): Fault {
  return new Fault(
    'invalid_request',
    'what your browser sent for the passkey cannot be read. Load the page again and try anew',
  );
}

function readJson<Read>(text: string, schema: z.ZodType<Read>): Read {
  try {
    const read = schema.safeParse(parseStrictJson(text));
    if (read.success) return read.data;
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
  }
  throw unreadable();
}

/** The assertion that the script put into a form; undefined where there is none. @throws Fault `invalid_request`. */
export function readAssertion(form: Form, field: string): AssertionResponse | undefined {
  const text = form.get(field) ?? '';
  return text === '' ? undefined : readJson(text, assertionResponse);
}

/** The new passkey that the script put into the form. @throws Fault `invalid_request`. */
export function readRegistration(form: Form): AttestationResponse {
  return readJson(form.get('registration') ?? '', attestationResponse);
}

/** An enrolment code as typed or pasted; undefined for none. */
export function readCode(form: Form): string | undefined {
  const code = (form.get('code') ?? '').trim();
  return code === '' ? undefined : code.slice(0, CODE_MAX);
}

/** What a person calls the passkey; undefined for nothing. @throws Fault `invalid_request`. */
export function readLabel(form: Form): string | undefined {
  const label = (form.get('label') ?? '').trim();
  if (label === '') return undefined;
  if (label.length <= LABEL_MAX && findUnsafeText(label) === undefined) return label;
  throw new Fault('invalid_request', `a label has up to ${LABEL_MAX} characters in one line`, {
    issues: [{ pointer: '/label', reason: 'is too long, or has control or bidi characters' }],
  });
}
