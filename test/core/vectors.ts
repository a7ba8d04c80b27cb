import { readFileSync } from 'node:fs';

const VECTORS = new URL('../vectors/', import.meta.url);

/** The bytes of a file of test/vectors. */
export function readVector(path: string): Buffer {
  return readFileSync(new URL(path, VECTORS));
}

/** A JSON file of test/vectors; its shape is the caller's claim. */
export function readJsonVector<T>(path: string): T {
  return JSON.parse(readVector(path).toString('utf8')) as T;
}

/** The double whose big-endian bytes are these hex digits; leading zeros may be left out. */
export function doubleFromHex(hex: string): number {
  return Buffer.from(hex.padStart(16, '0'), 'hex').readDoubleBE();
}
