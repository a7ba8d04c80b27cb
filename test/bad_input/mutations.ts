export interface Mutation {
  /** The place and what was done there. */
  what: string;
  body: unknown;
}

/** One value of each type of JSON. */
const VALUES: Record<string, unknown> = {
  null: null,
  'a number': 17,
  'a fraction': -0.5,
  'a string': 'text',
  'an empty string': '',
  'an array': [1],
  'an object': { member: 1 },
  true: true,
};

/** A value with each of its places, itself included, replaced by one of every type, removed, or given a stranger. */
export function mutationsOf(body: unknown): Mutation[] {
  return placesOf(body, []).flatMap((path) => [
    ...Object.entries(VALUES).map(([name, value]) => ({
      what: `${path.join('/')} is ${name}`,
      body: replaced(body, path, () => value),
    })),
    ...(path.length === 0 ? [] : [{ what: `${path.join('/')} is absent`, body: removed(body, path) }]),
    ...strangersAt(body, path),
  ]);
}

type Path = readonly string[];

function placesOf(value: unknown, path: Path): Path[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]))
      : [];
  return [path, ...inner];
}

function strangersAt(body: unknown, path: Path): Mutation[] {
  const names = ['surplus', 'constructor', 'toString', 'a/b~c', '\u202e', ''];
  const target = path.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], body);
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return [];
  return names.map((name) => ({
    what: `${path.join('/')} has a member \`${name}\``,
    body: replaced(body, path, (object) => ({ ...(object as object), [name]: 1 })),
  }));
}

/** A copy with the value at `path` changed; members are copied by entries, so that no name is special. */
function replaced(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  if (Array.isArray(value)) {
    return value.map((element, index) =>
      String(index) === name ? replaced(element, rest, change) : element,
    );
  }
  const entries = Object.entries(value as object);
  return Object.fromEntries(
    entries.map(([key, member]) => [key, key === name ? replaced(member, rest, change) : member]),
  );
}

function removed(value: unknown, path: Path): unknown {
  const last = path.at(-1) as string;
  return replaced(value, path.slice(0, -1), (parent) =>
    Array.isArray(parent)
      ? parent.filter((_, index) => String(index) !== last)
      : Object.fromEntries(Object.entries(parent as object).filter(([name]) => name !== last)),
  );
}
