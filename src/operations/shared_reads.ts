/**
 * Reads values by key. Whoever asks while a read of the same key goes on shares the next one with all who do: what
 * each gets was read after they asked, and of one key no more than one read goes on at a time.
 */
export function createSharedReads<Value>(): (key: string, read: () => Promise<Value>) => Promise<Value> {
  const under = new Map<string, { going: Promise<Value>; next: Promise<Value> | null }>();

  const start = (key: string, read: () => Promise<Value>): Promise<Value> => {
    const going = read();
    const entry: { going: Promise<Value>; next: Promise<Value> | null } = { going, next: null };
    under.set(key, entry);
    const forget = (): void => {
      if (under.get(key) === entry && entry.next === null) under.delete(key);
    };
    going.then(forget, forget);
    return going;
  };

  return (key, read) => {
    const entry = under.get(key);
    if (entry === undefined) return start(key, read);
    entry.next ??= entry.going.then(
      () => start(key, read),
      () => start(key, read),
    );
    return entry.next;
  };
}
