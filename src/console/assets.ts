import { sha256Hex } from '../core/digest.ts';

/** The files that pages load, by name. */
export interface Assets {
  /** The address of a file, which changes with any of them. @throws TypeError when there is no such file. */
  url(name: string): string;
  /** Undefined when there is no such file. */
  serve(version: string, name: string): Response | undefined;
}

export const ASSETS_PATH = '/console/assets/:version/:name';

const VERSION_LENGTH = 16;
const FOREVER = 'public, max-age=31536000, immutable';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

function mediaTypeOf(name: string): string {
  const mediaType = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (mediaType === undefined) throw new TypeError(`\`${name}\` is no file that pages load. Remove it`);
  return mediaType;
}

function computeVersion(files: ReadonlyMap<string, Uint8Array>): string {
  const digests = [...files].map(([name, bytes]) => [name, sha256Hex(bytes)]).sort();
  return sha256Hex(JSON.stringify(digests)).slice(0, VERSION_LENGTH);
}

/**
 * Serves files under addresses that hold the digest of them all, so that scripts may import each other by relative
 * paths. Under the digest of another build a file is served as it is now, and not kept: a page of a replica that is
 * being replaced still works.
 */
export function createAssets(files: ReadonlyMap<string, Uint8Array>): Assets {
  const current = computeVersion(files);
  const served = new Map(
    [...files].map(([name, bytes]) => [name, { mediaType: mediaTypeOf(name), body: Uint8Array.from(bytes) }]),
  );
  return {
    url: (name) => {
      if (!served.has(name)) throw new TypeError(`there is no file \`${name}\` among the console's assets`);
      return `/console/assets/${current}/${name}`;
    },
    serve: (version, name) => {
      const file = served.get(name);
      if (file === undefined) return undefined;
      const headers = {
        'content-type': file.mediaType,
        'cache-control': version === current ? FOREVER : 'no-store',
      };
      return new Response(file.body, { headers });
    },
  };
}
