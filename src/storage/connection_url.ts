/** How the driver is told where the server is. */
export interface ConnectionTarget {
  url: string;
  /** A folder with the server's socket; the driver does not read it from a URL by itself. */
  host?: string;
}

/**
 * Reads libpq's form for a socket, `postgres:///name?host=/var/run/postgresql`, which the driver would send to the
 * server as a setting; every other URL passes as it is.
 */
export function parseConnectionUrl(text: string): ConnectionTarget {
  const socket = /[?&]host=(%2F[^&]*|\/[^&]*)/i.exec(text);
  if (socket === null) return { url: text };
  const url = text.replace(socket[0], '').replace(/^([^?&]*)&/, '$1?');
  return { url, host: decodeURIComponent(socket[1] ?? '') };
}
