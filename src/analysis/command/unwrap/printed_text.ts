import type { Segment } from '../analysis.ts';
import { commandName } from '../command_name.ts';
import { valuesOf } from './word_tools.ts';

/** The text that a pipeline prints, its last command first, where its words tell; null where they do not. */
export function printedText([last, ...before]: readonly Segment[]): string | null {
  const [name = '', ...rest] = (last === undefined ? null : valuesOf(last.words)) ?? [];
  switch (commandName(name)) {
    case 'echo':
      return decodeEscapes(rest.filter((value) => !/^-[neE]+$/.test(value)).join(' '));
    case 'printf':
      return printfText(rest);
    case 'cat':
      return rest.length === 0 ? inputText(last, before) : null;
    case 'base64':
      return rest.length === 1 && /^(?:-d|-D|--decode)$/.test(rest[0] ?? '')
        ? decode(inputText(last, before), fromBase64)
        : null;
    case 'xxd':
      return /^(?:-r -p|-p -r|-rp|-pr|-ps -r|-r -ps)$/.test(rest.join(' '))
        ? decode(inputText(last, before), fromHex)
        : null;
    default:
      return null;
  }
}

/** What a command reads: its here-document, or what is piped into it. */
function inputText(segment: Segment | undefined, before: readonly Segment[]): string | null {
  const bodies = segment?.redirections.filter(({ operator }) => operator.startsWith('<')) ?? [];
  return bodies.length === 0 ? printedText(before) : bodies.length === 1 ? (bodies[0]?.body ?? null) : null;
}

function printfText([format = '', ...operands]: readonly string[]): string {
  return decodeEscapes(/^%[sb](?:\\n)?$/.test(format) ? operands.join('\n') : format);
}

const ESCAPE = /\\(?:x([0-9A-Fa-f]{1,2})|0?([0-7]{1,3})|([nt\\]))/g;

/** Escapes of `echo` and `printf`. Some shells take them without `-e` too. */
function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (_, hex?: string, octal?: string, letter?: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    return letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\';
  });
}

function decode(text: string | null, read: (text: string) => string | null): string | null {
  return text === null ? null : read(text.replace(/\s/g, ''));
}

function fromBase64(text: string): string | null {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? fromBytes(atob(text)) : null;
}

function fromHex(text: string): string | null {
  if (!/^[0-9A-Fa-f]*$/.test(text) || text.length % 2 !== 0) return null;
  return fromBytes(text.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16))));
}

/** UTF-8 of which each byte is one character. */
function fromBytes(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}
