/** Members that may be absent, none of which is `undefined`. */
export type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** A copy without the members that are `undefined`: laid over a default they would hide it. */
export function definedMembers<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}
