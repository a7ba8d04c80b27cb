import type { Masker } from '../core/masker.ts';
import type { ServiceLog } from './service_log.ts';

/** Deeper values are left out of a line: what is logged is an error and some names. */
const DEPTH_MAX = 6;

/** A log whose lines hold nothing that the masker takes for a secret, in whatever an error quotes. */
export function maskLog(log: ServiceLog, masker: Masker): ServiceLog {
  const mask = (fields: object): object => maskMembers(fields, masker, DEPTH_MAX);
  return {
    info: (fields, message) => log.info(mask(fields), masker.maskText(message)),
    warn: (fields, message) => log.warn(mask(fields), masker.maskText(message)),
    error: (fields, message) => log.error(mask(fields), masker.maskText(message)),
  };
}

function maskField(value: unknown, masker: Masker, depth: number): unknown {
  if (typeof value === 'string') return masker.maskText(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth === 0) return '(left out)';
  if (Array.isArray(value)) return value.map((item) => maskField(item, masker, depth - 1));
  return maskMembers(value, masker, depth);
}

/** A copy of the same kind, so that a logger still knows an error by its prototype. */
function maskMembers(value: object, masker: Masker, depth: number): object {
  const copy: object = Object.create(Object.getPrototypeOf(value));
  for (const [name, { value: member, enumerable = true }] of Object.entries(
    Object.getOwnPropertyDescriptors(value),
  )) {
    const masked = maskField(name === 'stack' ? (value as Error).stack : member, masker, depth - 1);
    Object.defineProperty(copy, name, { value: masked, enumerable, writable: true, configurable: true });
  }
  return copy;
}
