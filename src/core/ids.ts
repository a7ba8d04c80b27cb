/** The prefix of each kind of id (wire contract, first page). */
export const ID_PREFIXES = {
  decision: 'dec_',
  approval: 'apr_',
  grant: 'grt_',
  denial: 'den_',
  receipt: 'rcp_',
  key: 'key_',
  request: 'req_',
  webhook: 'whk_',
  delivery: 'dlv_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

declare const uuid_: unique symbol;

/** A UUIDv7 (RFC 9562 §5.7) in its canonical, lower-case text form. */
export type Uuid = string & { readonly [uuid_]: true };

/** An id as on the wire: the prefix of its kind and a UUIDv7. */
export type Id<Kind extends IdKind> = `${(typeof ID_PREFIXES)[Kind]}${Uuid}`;

/** The pattern of a UUIDv7 in that form, to be anchored. */
export const UUID_V7_PATTERN = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

const UUID_V7 = new RegExp(`^${UUID_V7_PATTERN}$`);

/** Whether a text is a UUIDv7 in the one form used here: version nibble 7, variant 10, lower case. */
export function isUuidV7(text: string): text is Uuid {
  return UUID_V7.test(text);
}

/** When a UUIDv7 was made, by its maker's clock in milliseconds (RFC 9562 §5.7); undefined for any other text. */
export function timeOfUuidV7(text: string): Date | undefined {
  if (!isUuidV7(text)) return undefined;
  return new Date(Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16));
}

/** The wire form of an id. Throws a `TypeError` if `uuid` is no UUIDv7 in lower case. */
export function formatId<Kind extends IdKind>(kind: Kind, uuid: string): Id<Kind> {
  if (!isUuidV7(uuid)) {
    throw new TypeError(`\`${uuid}\` is not a lower-case uuid of version 7`);
  }
  return `${ID_PREFIXES[kind]}${uuid}`;
}

/**
 * The UUID of an id of this kind, or undefined for a text of any other form: another prefix, upper case,
 * another version. Such an id names nothing and is answered as not found.
 */
export function parseId(kind: IdKind, text: string): Uuid | undefined {
  const prefix = ID_PREFIXES[kind];
  const uuid = text.slice(prefix.length);
  return text.startsWith(prefix) && isUuidV7(uuid) ? uuid : undefined;
}
