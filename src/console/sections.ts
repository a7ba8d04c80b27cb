import type { Role } from '../core/caller.ts';

/** What an entry of the navigation leads to; `roles` are those of the same call of the API, any of which opens it. */
interface SectionPage {
  path: string;
  label: string;
  roles: readonly Role[];
}

/** The entries of the navigation, in order. */
export const SECTIONS = {
  queue: { path: '/console', label: 'Queue', roles: ['approver', 'operator', 'auditor'] },
  history: { path: '/console/history', label: 'History', roles: ['approver', 'operator', 'auditor'] },
  grants: { path: '/console/grants', label: 'Grants', roles: ['approver', 'operator'] },
  sessions: { path: '/console/sessions', label: 'Sessions', roles: ['approver', 'operator', 'auditor'] },
  policy: { path: '/console/policy', label: 'Policy', roles: ['approver', 'operator', 'auditor'] },
  passkeys: { path: '/console/passkeys', label: 'Passkeys', roles: ['approver'] },
} as const satisfies Record<string, SectionPage>;

export type Section = keyof typeof SECTIONS;

/** The entries that whoever has these roles may open. */
export function sectionsFor(roles: readonly Role[]): (SectionPage & { name: Section })[] {
  const all = Object.entries(SECTIONS) as [Section, SectionPage][];
  return all
    .filter(([, section]) => section.roles.some((role) => roles.includes(role)))
    .map(([name, section]) => ({ name, ...section }));
}
