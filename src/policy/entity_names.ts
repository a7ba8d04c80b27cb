import { normalizeIdentifier } from '../core/identifiers.ts';
import { NAMESPACE, type PolicyJson } from './cedar.ts';

/** How the service writes the ids of entities that policies name; another spelling would match nothing, ever. */
const NORMAL_FORMS: Readonly<Record<string, (id: string) => string>> = {
  Agent: (id) => id.toLowerCase(),
  Approver: (id) => id.toLowerCase(),
  Tool: (id) => {
    const normalized = normalizeIdentifier(id);
    return normalized.kind === 'normal' ? normalized.normal : '';
  },
};

/** Finds entities that a policy names in a form that no call has, each once, as a message with its remedy. */
export function findMisspeltEntities({
  principal,
  resource,
  conditions,
}: PolicyJson): [message: string, help: string][] {
  const found = new Map<string, string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && 'id' in node && typeof node.type === 'string' && typeof node.id === 'string') {
      const normal = normalFormOf(node.type, node.id);
      if (normal !== node.id) found.set(`no call has \`${node.type}::"${node.id}"\``, remedyFor(normal));
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit([principal, resource, conditions]);
  return [...found];
}

function normalFormOf(type: string, id: string): string {
  const name = type.slice(`${NAMESPACE}::`.length);
  const form = Object.hasOwn(NORMAL_FORMS, name) ? NORMAL_FORMS[name] : undefined;
  return form === undefined || !type.startsWith(`${NAMESPACE}::`) ? id : form(id);
}

function remedyFor(normal: string): string {
  return normal === '' ? 'It is no name.' : `Names are compared in lower case: write "${normal}".`;
}
