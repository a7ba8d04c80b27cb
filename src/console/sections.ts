/** The entries of the navigation, in order. */
export const SECTIONS = {
  queue: { path: '/console', label: 'Queue' },
  history: { path: '/console/history', label: 'History' },
  grants: { path: '/console/grants', label: 'Grants' },
  sessions: { path: '/console/sessions', label: 'Sessions' },
  policy: { path: '/console/policy', label: 'Policy' },
  passkeys: { path: '/console/passkeys', label: 'Passkeys' },
} as const;

export type Section = keyof typeof SECTIONS;
