import type { PublicUrl } from '../core/public_url.ts';

/** The service's own address, which without one configured is known once it listens. */
export interface KnownPublicUrl extends PublicUrl {
  /** Says at which port the service listens, where 0 was configured. */
  listensAt(port: number): void;
}

/** The configured address, or that of this machine at the port the service listens at. */
export function createPublicUrl(config: { publicUrl: string | undefined; port: number }): KnownPublicUrl {
  let { port } = config;
  return {
    isConfigured: config.publicUrl !== undefined,
    get: () => config.publicUrl ?? `http://localhost:${port}`,
    listensAt: (known) => {
      port = known;
    },
  };
}
