/** A command that cannot be carried out as given; its message is the one line that is printed. */
export class UsageError extends Error {}
