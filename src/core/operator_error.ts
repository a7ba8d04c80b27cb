/**
 * A trouble that whoever runs the service can mend. Its message is one line that says what is wrong and what to do;
 * the command line prints it alone.
 */
export class OperatorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OperatorError';
  }
}
