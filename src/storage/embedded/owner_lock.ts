import postgres from 'postgres';
import { databaseName, socketPort } from './cluster.ts';
import { errorCode } from './embedded_error.ts';

/**
 * The mark of a living owner: an advisory lock on the server, held for as long as the owner's connection lives. It
 * ends with the owner however the owner ends, which no file does.
 */
export interface OwnerLock {
  /** Settles when the connection is gone, and the lock with it. */
  lost: Promise<void>;
  /** Makes the service's database where it is missing. */
  ensureDatabase(): Promise<void>;
  release(): Promise<void>;
}

/** The lock's two keys: the letters of the product's name. */
const lockKeys = [0x6165, 0x676973] as const;

const notReady = [
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
];
const startingOrStopping = ['57P01', '57P03'];

/** Whether an error of the functions here says no more than that the server is starting, stopping or gone. */
export function isNotReady(error: unknown): boolean {
  return [...notReady, ...startingOrStopping].includes(errorCode(error));
}

/** Takes the lock of the server in `socketFolder`, or says that it is held. Rejects when the server does not answer. */
export async function takeOwnerLock(socketFolder: string): Promise<OwnerLock | 'held'> {
  let onLost: () => void = () => undefined;
  const lost = new Promise<void>((resolve) => {
    onLost = resolve;
  });
  const client = connect(socketFolder, onLost);
  try {
    const [row] =
      await client`select pg_try_advisory_lock(${lockKeys[0]}::int, ${lockKeys[1]}::int) as taken`;
    if (row?.taken !== true) {
      await client.end();
      return 'held';
    }
  } catch (error) {
    await client.end({ timeout: 0 });
    throw error;
  }
  return {
    lost,
    ensureDatabase: async () => {
      const found = await client`select from pg_database where datname = ${databaseName}`;
      if (found.length === 0) {
        await client`create database ${client(databaseName)}`;
      }
    },
    release: () => client.end({ timeout: 1 }),
  };
}

/** Whether someone holds the lock of the server in `socketFolder`. Rejects when the server does not answer. */
export async function hasOwner(socketFolder: string): Promise<boolean> {
  const client = connect(socketFolder, () => undefined);
  try {
    const rows = await client`select from pg_locks where locktype = 'advisory' and objsubid = 2
      and classid = ${lockKeys[0]}::int::oid and objid = ${lockKeys[1]}::int::oid and granted`;
    return rows.length > 0;
  } finally {
    await client.end({ timeout: 0 });
  }
}

/** One connection to the database that is always there; advisory locks belong to a database. */
function connect(socketFolder: string, onclose: () => void): postgres.Sql {
  return postgres({
    path: `${socketFolder}/.s.PGSQL.${socketPort}`,
    user: databaseName,
    database: 'postgres',
    ssl: false,
    max: 1,
    idle_timeout: 0,
    max_lifetime: 0,
    connect_timeout: 5,
    fetch_types: false,
    prepare: false,
    connection: { application_name: 'aegis owner' },
    onnotice: () => undefined,
    onclose,
  });
}
