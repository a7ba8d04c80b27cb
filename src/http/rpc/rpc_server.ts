import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Caller } from '../../core/caller.ts';
import { agentFrozen, unavailable } from '../../core/common_faults.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../../operations/deps.ts';
import { identifyCaller } from '../../operations/identify_caller.ts';
import { keepAskerLeases } from '../../operations/rpc/asker_leases.ts';
import { type Cidr, clientAddress } from '../client_address.ts';
import type { Log } from '../log.ts';
import { BODY_LIMITS } from '../read_body.ts';
import type { Upgrades } from '../upgrades.ts';
import { CommandFeeds } from './command_feeds.ts';
import { type ConnectionOptions, RpcConnection } from './connection.ts';
import { ConnectionTable } from './connection_table.ts';
import { isForeignOrigin, isRpcUpgrade, RPC_PROTOCOL, readHandshake } from './handshake.ts';

/** How often clients are asked whether they are there. */
const PROBE_MS = 10_000;

export interface RpcServerOptions {
  deps: Deps;
  log: Log;
  trustedProxies: readonly Cidr[];
  newConnectionId: () => string;
}

export interface RpcServer extends Upgrades {
  /** Ends every connection and withdraws what they asked for. */
  close(): Promise<void>;
}

/** The request that opens a connection, and what it came on. */
interface Opening {
  incoming: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

type Identify = () => Promise<Caller>;

function addressOf({ socket, headers }: IncomingMessage, trustedProxies: readonly Cidr[]): string {
  const forwardedFor = headers['x-forwarded-for'];
  return clientAddress(socket.remoteAddress, forwardedFor?.toString(), trustedProxies);
}

/** Who opens a connection, once all that can be refused of it was looked at. @throws Fault. */
async function admit({ headers }: IncomingMessage, identify: Identify): Promise<Caller> {
  const caller = await identify();
  if (caller.frozen) throw agentFrozen();
  if (!isForeignOrigin(headers.origin, headers.host)) return caller;
  throw new Fault('forbidden', 'a page of another site may not connect. Open the connection from this host');
}

function createSockets(): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: BODY_LIMITS.bytesMax,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(RPC_PROTOCOL) ? RPC_PROTOCOL : false),
  });
}

/** Lets a connection speak; undefined when the client has gone by now. */
function open(
  sockets: WebSocketServer,
  { incoming, socket, head }: Opening,
  options: ConnectionOptions,
): RpcConnection | undefined {
  let connection: RpcConnection | undefined;
  sockets.handleUpgrade(incoming, socket, head, (opened) => {
    connection = new RpcConnection(opened, options);
  });
  return connection;
}

/**
 * JSON-RPC 2.0 over WebSocket (RFC 6455). A credential opens a connection and is looked up again for each request; the
 * connection ends when it no longer stands. Whatever is refused before that is a problem over HTTP.
 */
export function createRpcServer(options: RpcServerOptions): RpcServer {
  const { deps, log, trustedProxies } = options;
  const table = new ConnectionTable();
  const feeds = new CommandFeeds(deps);
  const sockets = createSockets();
  let isClosing = false;
  const stopLeases = keepAskerLeases(
    deps,
    () => table.listAskers(),
    (error) => log.warn({ err: error }, 'the leases of connections that wait could not be renewed now'),
  );
  const probing = setInterval(() => table.probe(), PROBE_MS);
  probing.unref();

  async function serve(opening: Opening, caller: Caller, identify: Identify): Promise<void> {
    let connection: RpcConnection | undefined;
    // Followed from before the client can know that it is connected: what is asked from then on is told.
    const leave = caller.roles.includes('approver')
      ? await feeds.join(caller.tenantId, (news) => connection?.tell(news))
      : () => undefined;
    try {
      table.assertRoom(caller.keyId);
      if (isClosing) throw unavailable(new Error('the service stops'));
      const connectionId = options.newConnectionId();
      connection = open(sockets, opening, { deps, log, caller, identify, connectionId });
      if (connection !== undefined) await table.hold(caller.keyId, connection);
    } finally {
      leave();
    }
  }

  return {
    accepts: isRpcUpgrade,
    upgrade: async (incoming, socket, head) => {
      const { token } = readHandshake(incoming);
      const identify = () => identifyCaller(deps, token, () => addressOf(incoming, trustedProxies));
      await serve({ incoming, socket, head }, await admit(incoming, identify), identify);
    },
    close: async () => {
      isClosing = true;
      clearInterval(probing);
      await table.endAll();
      await stopLeases();
    },
  };
}
