import { createReadStream } from 'node:fs';
import { OperatorError } from '../core/operator_error.ts';
import { oneLine } from './config_values.ts';

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
