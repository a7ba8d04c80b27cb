import { NAMESPACE, type SchemaJson, type Type } from './cedar.ts';

export type EntityTypes = SchemaJson<string>[string]['entityTypes'];

/** Everything that a place of a call may have, over all types that it can be of. */
export interface AttributeTree {
  /** What each attribute leads on to, by name; made when first looked at. */
  attributes(): ReadonlyMap<string, AttributeTree>;
}

/** The attributes of a place that can be of any of these types. Entities lead on to each other in circles. */
export function createAttributeTree(types: readonly Type<string>[], entityTypes: EntityTypes): AttributeTree {
  let known: ReadonlyMap<string, AttributeTree> | undefined;
  return {
    attributes: () => {
      known ??= mergeAttributes(types, entityTypes);
      return known;
    },
  };
}

/** A type's name without the service's namespace. */
export function withoutNamespace(type: string): string {
  const prefix = `${NAMESPACE}::`;
  return type.startsWith(prefix) ? type.slice(prefix.length) : type;
}

function mergeAttributes(
  types: readonly Type<string>[],
  entityTypes: EntityTypes,
): ReadonlyMap<string, AttributeTree> {
  const typesByName = new Map<string, Type<string>[]>();
  for (const [name, type] of types.flatMap((one) => attributesOf(one, entityTypes))) {
    const others = typesByName.get(name);
    if (others === undefined) typesByName.set(name, [type]);
    else others.push(type);
  }
  return new Map([...typesByName].map(([name, all]) => [name, createAttributeTree(all, entityTypes)]));
}

/** What a value of the type may have: a record's members, an entity's attributes; else nothing. */
function attributesOf(type: Type<string>, entityTypes: EntityTypes): [string, Type<string>][] {
  if ('attributes' in type) return Object.entries(type.attributes);
  const isEntity = type.type === 'Entity' && 'name' in type;
  const entity = isEntity ? entityTypes[withoutNamespace(type.name)] : undefined;
  if (entity === undefined || !('shape' in entity) || entity.shape === undefined) return [];
  return 'attributes' in entity.shape ? Object.entries<Type<string>>(entity.shape.attributes) : [];
}
