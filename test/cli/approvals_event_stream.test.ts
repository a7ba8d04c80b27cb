import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEventStream, type StreamMessage } from '../../src/cli/approvals/event_stream.ts';

async function* feed(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function read(...chunks: (string | Uint8Array)[]): Promise<StreamMessage[]> {
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk));
  const messages: StreamMessage[] = [];
  for await (const message of readEventStream(feed(bytes))) messages.push(message);
  return messages;
}

const event = (data: string, more: object = {}) => ({
  kind: 'event',
  type: 'message',
  data,
  id: '',
  ...more,
});

describe('a stream of server-sent events', () => {
  test.each<[what: string, stream: string, messages: object[]]>([
    [
      'an event with its type and id',
      'id: 7-1\nevent: a.b\ndata: x\n\n',
      [event('x', { type: 'a.b', id: '7-1' })],
    ],
    [
      'data of several lines joined by line breaks',
      'data: a\ndata:  b\ndata\ndata:c\n\n',
      [event('a\n b\n\nc')],
    ],
    ['lines that end with CR', 'data: a\rdata: b\r\r', [event('a\nb')]],
    ['lines that end with CRLF', 'data: a\r\ndata: b\r\n\r\n', [event('a\nb')]],
    ['line ends of all kinds in one event', 'id: 1\rdata: a\r\ndata: b\n\r\n', [event('a\nb', { id: '1' })]],
    ['the stream without its byte order mark', '\ufeffdata: a\n\n', [event('a')]],
    ['a later byte order mark as a part of a name', 'data: a\n\n\ufeffdata: b\n\n', [event('a')]],
    ['no event for a comment', ': still here\n\n:\n\ndata: a\n\n', [event('a')]],
    ['no event for fields without data', 'event: a\n\ndata: b\n\n', [event('b')]],
    ['an empty line of data as an event', 'data\n\ndata:\n\n', [event(''), event('')]],
    ['fields that it does not know as nothing', 'dat: x\nDATA: y\n data: z\ndata: a\n\n', [event('a')]],
    ['no space but the first', 'data:  a \n\n', [event(' a ')]],
    ['a colon in a value as it is', 'data: a: b\n\n', [event('a: b')]],
    [
      'the id until another is told',
      'id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n',
      [event('a', { id: '1' }), event('b', { id: '1' }), event('c')],
    ],
    [
      'no id with a null in it',
      'id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n',
      [event('a', { id: '1' }), event('b', { id: '1' })],
    ],
    [
      'the type for one event alone',
      'event: x\ndata: a\n\ndata: b\n\n',
      [event('a', { type: 'x' }), event('b')],
    ],
    [
      'an id without data as a position',
      ': open\nretry: 250\nid: 9-9\n\n',
      [
        { kind: 'retry', milliseconds: 250 },
        { kind: 'position', id: '9-9' },
      ],
    ],
    ['no retry that is no number', 'retry: 1s\nretry: -1\nretry:\nretry: 1e3\ndata: a\n\n', [event('a')]],
    ['nothing of an event that is cut off', 'data: a\n\ndata: b\n', [event('a')]],
    ['nothing of a line that is cut off', 'data: a\n\ndata: b', [event('a')]],
    ['nothing', '', []],
  ])('gives %s', async (_, stream, messages) => {
    expect(await read(stream)).toEqual(messages);
  });

  test('a CR at the end of a chunk and an LF at the start of the next are one line end', async () => {
    expect(await read('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual([event('a\nb')]);
    expect(await read('data: a\r', '', '\n', 'data: b\n\n')).toEqual([event('a\nb')]);
  });

  test('an event is given at the CR that ends it, without waiting for what comes next', async () => {
    const stream = new TransformStream<Uint8Array, Uint8Array>();
    const writer = stream.writable.getWriter();
    const messages = readEventStream(stream.readable.values());
    void writer.write(new TextEncoder().encode('data: a\r\r'));
    expect((await messages.next()).value).toEqual(event('a'));
    await messages.return(undefined);
  });

  test('is read alike however its bytes are cut', async () => {
    const text = fc.constantFrom(
      'data',
      ':',
      ' ',
      'id',
      'event',
      'retry',
      '1',
      'é',
      '€',
      '😀',
      '\r',
      '\n',
      '\r\n',
      '\n\n',
    );
    const stream = fc.array(text, { maxLength: 60 }).map((parts) => `\ufeff${parts.join('')}\n\n`);
    await fc.assert(
      fc.asyncProperty(stream, fc.array(fc.nat(200), { maxLength: 8 }), async (whole, places) => {
        const bytes = new TextEncoder().encode(whole);
        const cuts = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
          (a, b) => a - b,
        );
        const chunks = cuts.slice(1).map((end, index) => bytes.slice(cuts[index], end));
        expect(await read(...chunks)).toEqual(await read(bytes));
      }),
      { numRuns: 300 },
    );
  });

  test('what is no UTF-8 is a replacement character, also over chunks', async () => {
    const bytes = new TextEncoder().encode('data: a€b\n\n');
    expect(await read(bytes.slice(0, 8), bytes.slice(8))).toEqual([event('a€b')]);
    expect(await read('data: a', new Uint8Array([0xe2, 0x82]), 'b\n\n')).toEqual([event('a\ufffdb')]);
  });

  test('without an end to a line or an event is given up, so that memory is bounded', async () => {
    const part = 'x'.repeat(2 ** 20);
    const read5 = (first: string, chunk: string) => read(first, ...Array<string>(5).fill(chunk));
    await expect(read5('data: ', part)).rejects.toThrow(RangeError);
    await expect(read5('', `data: ${part}\n`)).rejects.toThrow(RangeError);
  });
});
