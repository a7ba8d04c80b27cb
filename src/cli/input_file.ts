import { createReadStream } from 'node:fs';
import type { JsonValue } from '../core/json.ts';
import { OperatorError } from '../core/operator_error.ts';
import { type JsonLimits, parseStrictJson, StrictJsonError } from '../core/strict_json.ts';
import { oneLine } from './config_values.ts';
import { visible } from './terminal.ts';

/**
 * The bytes of a file that a command is given; `-` is standard input.
 * @throws OperatorError when it has more than `bytesMax`; the file system's error when it cannot be read.
 */
export async function readInput(path: string, bytesMax: number): Promise<Uint8Array> {
  const stream: AsyncIterable<Buffer> = path === '-' ? process.stdin : createReadStream(path);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > bytesMax) {
      throw new OperatorError(
        `${describeInput(path)} has more than the ${bytesMax} bytes that are read. Shorten it`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An input as a message names it. */
export function describeInput(path: string): string {
  return path === '-' ? 'the standard input' : `\`${oneLine(path)}\``;
}

/** What a person writes by hand may have as many members as fit into it. */
const LIMITS: JsonLimits = { levelsMax: 64, membersMax: 1_000_000 };

/**
 * The JSON value in a file that a command is given, read strictly; `-` is standard input.
 * @throws OperatorError as `readInput`, and when it is no strict JSON.
 */
export async function readJsonInput(path: string, bytesMax: number): Promise<JsonValue> {
  const bytes = await readInput(path, bytesMax);
  try {
    return parseStrictJson(bytes, LIMITS);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new OperatorError(visible(`${describeInput(path)}: ${error.message}. Write it as strict JSON`));
  }
}
