import type { WebhookTargets } from '../../core/webhook_ports.ts';
import type { AddressGuard } from './address_guard.ts';
import { findAddresses, type ResolveHost } from './find_addresses.ts';

const RESOLVE_MS = 5000;

/** What is wrong with a URL by its form alone. */
function findFault(text: string, url: URL): string | undefined {
  if (!['http:', 'https:'].includes(url.protocol)) return 'must begin with `https://` or `http://`';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
  if (text.includes('#')) return 'must not have a fragment';
  return undefined;
}

/** A resolver that gives up after a while. */
function inTime(resolveHost: ResolveHost): ResolveHost {
  return async (hostname) => {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('no answer')), RESOLVE_MS);
    });
    return Promise.race([resolveHost(hostname), silence]).finally(() => clearTimeout(timer));
  };
}

/** Examines URLs before they are stored; every attempt looks again at where its URL leads. See the port. */
export function createWebhookTargets(guard: AddressGuard, resolveHost: ResolveHost): WebhookTargets {
  return {
    examine: async (text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url === undefined) return { kind: 'refused', reason: 'is no url' };
      const fault = findFault(text, url);
      if (fault !== undefined) return { kind: 'refused', reason: fault };
      const found = await findAddresses(url, guard, inTime(resolveHost));
      switch (found.kind) {
        case 'found':
          return { kind: 'allowed', url: url.href };
        case 'unknown':
          return { kind: 'refused', reason: 'has a host that has no address now' };
        case 'refused':
          return {
            kind: 'refused',
            reason:
              'leads to an address that is not public. Have its network listed in `AEGIS_WEBHOOK_ALLOW` if it is meant',
          };
      }
    },
  };
}
