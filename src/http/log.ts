/** What the HTTP layer needs of a logger; pino's has it. Messages are constant, what varies stands in `fields`. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
