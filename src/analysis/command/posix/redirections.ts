import type { HereDoc, Redirection as RedirectionNode } from 'unbash';
import type { Redirection } from '../analysis.ts';
import { unescapeHereDocument } from './quote_removal.ts';
import { type OnDoubt, toWord } from './words.ts';

/** A redirection in the shared form. One that reads into another descriptor than 0 has its number before `<`. */
export function toRedirection(node: RedirectionNode, onDoubt: OnDoubt): Redirection {
  const { descriptor } = node;
  const number =
    descriptor?.type === 'FileDescriptor' ? String(descriptor.value) : `{${descriptor?.name ?? ''}}`;
  const isOther = descriptor !== undefined && number !== '0' && node.operator.startsWith('<');
  const operator = isOther ? `${number}${node.operator}` : node.operator;
  if (node.type === 'HereDoc') {
    return { operator, target: null, body: hereDocument(node) };
  }
  const target = node.target === undefined ? null : toWord(node.target, onDoubt);
  const value = target?.value ?? null;
  return { operator, target, body: node.type === 'HereString' && value !== null ? `${value}\n` : null };
}

/** What the command reads; null where only running it could tell. */
function hereDocument({ operator, delimiter, body: { text, parts } }: HereDoc): string | null {
  const isQuoted = delimiter?.quoted === true;
  // Shells differ in whether a joined line loses its tabs.
  if (operator === '<<-' && !isQuoted && text.includes('\\\n')) return null;
  const lines = operator === '<<-' ? text.replace(/^\t+/gm, '') : text;
  if (isQuoted) return lines;
  return parts === undefined ? unescapeHereDocument(lines) : null;
}
