import type { IncomingMessage } from 'node:http';
import { Fault } from '../core/fault.ts';

export interface BodyLimits {
  /** Most bytes a body may have; more is `body_too_large`. */
  bytesMax: number;
  /** Time from now until the last byte; later is `bad_request`. */
  timeoutMs: number;
}

/** Every answer to a body over the limit says the same, whether its length was announced or counted. */
export function bodyTooLarge(bytesMax: number): Fault {
  return new Fault('body_too_large', `the body has more than ${bytesMax} bytes. Send a smaller one`);
}

/**
 * The bytes of a body that arrives through node:http. Fails with `body_too_large` or `bad_request` as soon as a
 * limit is passed, without waiting for the rest; the server then discards what still comes. Reads the stream's
 * events itself, since the web stream over it costs more than the rest of a small request, and since cancelling
 * one would destroy the connection before the answer.
 */
export function readIncomingBytes(incoming: IncomingMessage, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const timer = setTimeout(() => fail(bodyTooSlow(limits.timeoutMs)), limits.timeoutMs);

    function onData(chunk: Uint8Array): void {
      length += chunk.length;
      if (length > limits.bytesMax) {
        fail(bodyTooLarge(limits.bytesMax));
        return;
      }
      chunks.push(chunk);
    }
    function onEnd(): void {
      stop();
      resolve(joinBytes(chunks));
    }
    function onCut(): void {
      fail(bodyCut());
    }
    function fail(fault: Fault): void {
      // The stream flows on without a listener, so a client that writes all before it reads is not stuck.
      stop();
      reject(fault);
    }
    function stop(): void {
      clearTimeout(timer);
      incoming.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
    if (incoming.destroyed) {
      onCut();
    }
  });
}

/** The same for a web stream, which is what a request has when no node:http server is in front (tests). */
export async function readStreamBytes(
  stream: ReadableStream<Uint8Array>,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(bodyTooSlow(limits.timeoutMs)), limits.timeoutMs);
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), deadline]);
      if (done) {
        return joinBytes(chunks);
      }
      length += value.length;
      if (length > limits.bytesMax) {
        throw bodyTooLarge(limits.bytesMax);
      }
      chunks.push(value);
    }
  } catch (error) {
    throw error instanceof Fault ? error : bodyCut(error);
  } finally {
    clearTimeout(timer);
  }
}

function joinBytes(chunks: Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

function bodyTooSlow(timeoutMs: number): Fault {
  return new Fault('bad_request', `the body did not end within ${timeoutMs} ms. Send it whole and at once`);
}

function bodyCut(cause?: unknown): Fault {
  return new Fault('bad_request', 'the body ended before its announced end. Send it whole', { cause });
}
