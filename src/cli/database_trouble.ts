import { Fault } from '../core/fault.ts';
import { OperatorError } from '../core/operator_error.ts';
import { databaseErrorCode } from '../storage/database_errors.ts';

/** SQLSTATEs that a wrong DATABASE_URL, or a database that was not prepared, ends in. */
const TROUBLES: Record<string, string> = {
  '28000': 'does not let this user in. Correct the user in the url, or pg_hba.conf',
  '28P01': 'refuses the password. Correct it in the url',
  '3D000': 'has no database of this name. Create it, or correct the url',
  '42501': 'does not let this user make tables. Grant it `create` on the database and on schema public',
  '53300': 'has no connection left. Raise its max_connections, or end other clients',
  '57P03': 'is starting or stopping. Try again in a moment',
};
const SQLSTATE = /^[0-9A-Z]{5}$/;

function explain(code: string): string {
  const known = TROUBLES[code];
  if (known !== undefined) return known;
  return SQLSTATE.test(code)
    ? 'cannot be used. Look up the code in its manual, appendix "PostgreSQL Error Codes"'
    : 'cannot be reached. Start it, or correct the url';
}

/**
 * Runs the first work on a database that the environment names; what a wrong url or an unprepared server makes of
 * it becomes an `OperatorError`, which never holds the url: it may have a password.
 */
export async function explainDatabaseTrouble<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A fault's own code is none of the database's.
    const code = databaseErrorCode(error instanceof Fault ? error.cause : error);
    if (code === undefined || error instanceof OperatorError) throw error;
    throw new OperatorError(`the database of DATABASE_URL ${explain(code)} (${code})`, error);
  }
}
