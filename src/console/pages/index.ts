import type { ConsolePage } from '../page.ts';
import { agentPage, sessionPage } from './agents/timeline_page.tsx';
import { approvalPage } from './approval/approval_page.tsx';
import { approveForm, cancelForm, editForm, rejectForm } from './approval/decide.ts';
import { grantsPage, revokeForm } from './grants/grants_page.tsx';
import { historyPage } from './history/history_page.tsx';
import {
  addPasskeyForm,
  passkeyOptions,
  removePasskeyForm,
  signatureOptionsForm,
} from './passkeys/passkey_forms.ts';
import { passkeysPage } from './passkeys/passkeys_page.tsx';
import { policyPage } from './policy/policy_page.tsx';
import { queuePage } from './queue/queue_page.tsx';
import { resumeAgentForm, resumeSessionForm, sessionsPage } from './sessions/sessions_page.tsx';

/** Every page of the console for who is signed in. */
export const CONSOLE_PAGES: readonly ConsolePage[] = [
  queuePage,
  approvalPage,
  approveForm,
  rejectForm,
  editForm,
  cancelForm,
  historyPage,
  agentPage,
  sessionPage,
  grantsPage,
  revokeForm,
  sessionsPage,
  resumeAgentForm,
  resumeSessionForm,
  policyPage,
  passkeysPage,
  passkeyOptions,
  addPasskeyForm,
  removePasskeyForm,
  signatureOptionsForm,
];
