/** The variables of a policy. */
export type Variable = 'principal' | 'action' | 'resource' | 'context';

/** Every chain of attributes in a policy's conditions that begins at the variable, read or tested, in its full length. */
export function* attributePaths(node: unknown, variable: Variable): Generator<string[]> {
  const path = pathOf(node, variable);
  if (path !== undefined) {
    yield path;
  } else if (isObject(node)) {
    for (const child of Object.values(node)) yield* attributePaths(child, variable);
  }
}

function pathOf(node: unknown, variable: Variable): string[] | undefined {
  if (!isObject(node)) return undefined;
  if (node.Var === variable) return [];
  const access = node['.'] ?? node.has;
  if (!isObject(access)) return undefined;
  const left = pathOf(access.left, variable);
  const names: unknown[] = Array.isArray(access.attr) ? access.attr : [access.attr];
  return left && [...left, ...names.map(String)];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
