import type { Context } from 'hono';
import type { PublicUrl } from '../core/public_url.ts';
import type { Bindings } from '../http/bindings.ts';
import { type Cidr, clientAddress } from '../http/client_address.ts';
import type { Log } from '../http/log.ts';
import type { Deps } from '../operations/deps.ts';
import type { OidcClient } from './oidc_client.ts';

export interface ConsoleOptions {
  deps: Deps;
  log: Log;
  trustedProxies: readonly Cidr[];
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  publicUrl: PublicUrl;
  /** A secret of 43 of `[0-9A-Za-z]`. */
  newSecret: () => string;
  /** The files of `src/console/assets` by name. */
  files: ReadonlyMap<string, Uint8Array>;
  /** Sign-in at an OpenID provider; undefined where none is configured. */
  oidc: OidcClient | undefined;
}

export type ConsoleContext = Context<{ Bindings: Bindings }>;

/** Whether browsers reach the console over TLS, as its address says. */
export function isHttps({ publicUrl }: Pick<ConsoleOptions, 'publicUrl'>): boolean {
  return publicUrl.get().startsWith('https:');
}

/** The client's address, for what is counted against it. */
export function addressOf(c: ConsoleContext, { trustedProxies }: ConsoleOptions): string {
  return clientAddress(
    c.env?.incoming?.socket.remoteAddress,
    c.req.header('x-forwarded-for'),
    trustedProxies,
  );
}
