import { OperatorError } from '../../core/operator_error.ts';

/** Why the embedded PostgreSQL cannot serve; the server's own lines have gone to the log before. */
export class EmbeddedPostgresError extends OperatorError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = 'EmbeddedPostgresError';
  }
}

/** The error of a data folder that a living service holds. */
export function dataDirInUse(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `another Aegis service is using the data folder \`${dataDir}\`. Stop it or set AEGIS_DATA_DIR`,
  );
}

/** The code of a system or PostgreSQL error, such as `ENOENT` or `57P03`; `''` when it has none. */
export function errorCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
