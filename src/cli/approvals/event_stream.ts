/** What a stream of server-sent events says. */
export type StreamMessage =
  /** An event; `id` is the position after it, or the last one told before. */
  | { kind: 'event'; type: string; data: string; id: string }
  /** A position without an event. */
  | { kind: 'position'; id: string }
  /** How long to wait before connecting again, in milliseconds. */
  | { kind: 'retry'; milliseconds: number };

/** UTF-16 code units of a line, and of an event's data. A service sends far less. */
const SIZE_MAX = 2 ** 22;

/**
 * Reads a stream of server-sent events (WHATWG HTML §9.2.6), however its bytes are cut into chunks. An event that the
 * stream's end cuts off is none. Memory is bounded: linear in the size of one event.
 * @throws RangeError for a line or an event that has no end; the stream's own error when it breaks.
 */
export async function* readEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage> {
  const block = createBlock();
  for await (const line of readLines(chunks)) {
    const message = block.take(line);
    if (message !== undefined) yield message;
  }
}

/** Lines that end with LF, CR or both. What comes after the last line end is no line. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // Takes a byte order mark from the start, and only there.
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let isAfterReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // The line ended with the last chunk's CR already.
    if (isAfterReturn && text.startsWith('\n')) text = text.slice(1);
    isAfterReturn = text === '' ? false : text.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\r|\n/);
    rest += first;
    assertSize(rest.length);
    for (const other of others) {
      yield rest;
      rest = other;
    }
  }
}

function assertSize(size: number): void {
  if (size > SIZE_MAX) throw new RangeError('the event has no end');
}

/** What is known of the event whose lines are being read. */
function createBlock() {
  let type = '';
  let data: string[] = [];
  let size = 0;
  let id = '';
  let toldId = '';

  const dispatch = (): StreamMessage | undefined => {
    const event: StreamMessage = { kind: 'event', type: type || 'message', data: data.join('\n'), id };
    const isEmpty = data.length === 0;
    const isMoved = id !== toldId;
    type = '';
    data = [];
    size = 0;
    toldId = id;
    if (!isEmpty) return event;
    return isMoved ? { kind: 'position', id } : undefined;
  };

  const takeField = (name: string, value: string): StreamMessage | undefined => {
    if (name === 'event') type = value;
    else if (name === 'data') {
      size += value.length + 1;
      assertSize(size);
      data.push(value);
    } else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^[0-9]{1,9}$/.test(value))
      return { kind: 'retry', milliseconds: Number(value) };
    return undefined;
  };

  return {
    take(line: string): StreamMessage | undefined {
      if (line === '') return dispatch();
      const colon = line.indexOf(':');
      // A comment.
      if (colon === 0) return undefined;
      if (colon === -1) return takeField(line, '');
      const value = line.slice(colon + 1);
      return takeField(line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value);
    },
  };
}
