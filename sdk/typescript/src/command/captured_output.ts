const NEWLINE = 0x0a;
/** How far back from a cut a line is taken away whole. */
const LINE_BYTES_MAX = 4096;

/** What a command wrote to one of its streams, up to a limit. */
export interface CapturedBytes {
  bytes: Uint8Array;
  /** Whether it wrote more than is kept, or was still writing when it was listened to no more. */
  truncated: boolean;
}

/** Keeps the first `bytesMax` bytes of a stream and counts the rest. */
export class OutputCapture {
  readonly #bytesMax: number;
  readonly #chunks: Uint8Array[] = [];
  #kept = 0;
  #truncated = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Uint8Array): void {
    const part = chunk.subarray(0, this.#bytesMax - this.#kept);
    this.#truncated ||= part.length < chunk.length;
    if (part.length > 0) {
      this.#chunks.push(part);
      this.#kept += part.length;
    }
  }

  /** For a stream that was not read to its end. */
  cut(): void {
    this.#truncated = true;
  }

  /**
   * What was kept. The line that a cut goes through is left out, up to 4 KiB of it: half a secret is one that nothing
   * recognises.
   */
  end(): CapturedBytes {
    const bytes = Buffer.concat(this.#chunks);
    if (!this.#truncated) {
      return { bytes, truncated: false };
    }
    const from = Math.max(0, bytes.length - LINE_BYTES_MAX);
    const lineEnd = bytes.lastIndexOf(NEWLINE);
    return { bytes: bytes.subarray(0, lineEnd >= from ? lineEnd + 1 : from), truncated: true };
  }
}
