import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** The database's URL by way of this proxy. */
  url: string;
  /** Lets nothing through any more, either way, while connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Closes all connections and takes no new ones. */
  cut(): Promise<void>;
  /** Takes connections again, at the same address. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** How the server behind a database URL is reached: its socket's folder is where a host name would stand. */
function targetOf(url: URL): { path: string } | { host: string; port: number } {
  const { hostname, host, port } = url;
  if (!hostname.startsWith('%2F')) return { host: hostname, port: Number(port || 5432) };
  // The folder's name has a colon in it, which reads as a port.
  return { path: `${decodeURIComponent(host)}/.s.PGSQL.5432` };
}

/** A connection to PostgreSQL that a test can freeze and cut, on loopback. */
export async function startTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const behind = new URL(databaseUrl);
  const target = targetOf(behind);
  const sockets = new Set<Socket>();
  let frozen = false;

  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    if (frozen) socket.pause();
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const upstream = keep(createConnection(target));
    keep(client);
    client.on('data', (bytes) => upstream.write(bytes)).on('close', () => upstream.destroy());
    upstream.on('data', (bytes) => client.write(bytes)).on('close', () => client.destroy());
    if (frozen) for (const socket of [client, upstream]) socket.pause();
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const cut = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  const port = await listen(0);
  const { username, pathname } = behind;
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    mend: async () => {
      await listen(port);
    },
    close: async () => {
      if (server.listening) await cut();
    },
  };
}
