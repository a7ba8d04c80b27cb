import { isExactNumber } from './exact_number.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { formatPointer, LONE_SURROGATE, RESERVED_MEMBERS } from './json_rules.ts';
import { StrictJsonError, type StrictJsonReason } from './strict_json_error.ts';

/** Containers that may stand inside each other. It also bounds this reader's recursion. */
export const JSON_LEVELS_MAX = 64;
/** Object members in one text, all objects together. */
export const JSON_MEMBERS_MAX = 10_000;

/** What one text may hold; the service reads requests by the default. */
export interface JsonLimits {
  levelsMax: number;
  membersMax: number;
}

export const REQUEST_LIMITS: Readonly<JsonLimits> = {
  levelsMax: JSON_LEVELS_MAX,
  membersMax: JSON_MEMBERS_MAX,
};

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Reads one text by recursive descent along the grammar of RFC 8259; see `parseStrictJson` for the rules. */
export class StrictJsonReader {
  private readonly text: string;
  private readonly limits: Readonly<JsonLimits>;
  private at = 0;
  private members = 0;
  /** Containers open at `at`. */
  private depth = 0;
  /** The member or element being read in each open container; only the first `depth` entries are current. */
  private readonly path: (string | number)[] = [];

  constructor(text: string, limits: Readonly<JsonLimits>) {
    this.text = text;
    this.limits = limits;
  }

  /** The value of the whole text. Throws a `StrictJsonError` at the first fault. */
  read(): JsonValue {
    const value = this.readValue();
    this.skipSpace();
    if (this.at !== this.text.length) {
      this.failSyntax();
    }
    return value;
  }

  private readValue(): JsonValue {
    this.skipSpace();
    switch (this.text.charCodeAt(this.at)) {
      case QUOTE:
        return this.readString();
      case BRACE_OPEN:
        return this.readObject();
      case BRACKET_OPEN:
        return this.readArray();
      case 0x74:
        return this.readLiteral('true', true);
      case 0x66:
        return this.readLiteral('false', false);
      case 0x6e:
        return this.readLiteral('null', null);
      default:
        return this.readNumber();
    }
  }

  private readObject(): JsonObject {
    this.open();
    const object: JsonObject = {};
    if (!this.take(BRACE_CLOSE)) {
      do {
        const name = this.readName(object);
        object[name] = this.readValue();
      } while (this.take(COMMA));
      this.expect(BRACE_CLOSE);
    }
    this.depth -= 1;
    return object;
  }

  private readName(object: JsonObject): string {
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== QUOTE) {
      this.failSyntax();
    }
    // Until the name is known a fault in it belongs to the object.
    this.depth -= 1;
    const name = this.readString();
    this.depth += 1;
    this.path[this.depth - 1] = name;
    this.members += 1;
    if (this.members > this.limits.membersMax) {
      this.fail('too_many_members');
    }
    if (RESERVED_MEMBERS.has(name)) {
      this.fail('reserved_member');
    }
    if (Object.hasOwn(object, name)) {
      this.fail('duplicate_member');
    }
    this.expect(COLON);
    return name;
  }

  private readArray(): JsonValue[] {
    this.open();
    const array: JsonValue[] = [];
    if (!this.take(BRACKET_CLOSE)) {
      do {
        this.path[this.depth - 1] = array.length;
        array.push(this.readValue());
      } while (this.take(COMMA));
      this.expect(BRACKET_CLOSE);
    }
    this.depth -= 1;
    return array;
  }

  private readString(): string {
    const start = this.at;
    let at = start + 1;
    let plain = true;
    for (;;) {
      const unit = this.text.charCodeAt(at);
      if (unit === QUOTE) {
        break;
      }
      // The comparison is also false for NaN, which is the end of the text.
      if (!(unit >= 0x20)) {
        this.failSyntax();
      }
      if (unit === BACKSLASH) {
        plain = false;
        at += 1;
      } else if (unit >= 0xd800 && unit <= 0xdfff) {
        plain = false;
      }
      at += 1;
    }
    this.at = at + 1;
    return plain ? this.text.slice(start + 1, at) : this.unescape(this.text.slice(start, at + 1));
  }

  /** The value of a quoted string that has escapes or surrogates. */
  private unescape(quoted: string): string {
    const value = parseQuoted(quoted);
    if (value === undefined) {
      this.failSyntax();
    }
    if (LONE_SURROGATE.test(value)) {
      this.fail('lone_surrogate');
    }
    return value;
  }

  private readNumber(): number {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    if (text === undefined) {
      this.failSyntax();
    }
    const value = Number(text);
    if (!isExactNumber(text, value)) {
      this.fail('inexact_number');
    }
    this.at += text.length;
    return value;
  }

  private readLiteral<T extends JsonValue>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) {
      this.failSyntax();
    }
    this.at += word.length;
    return value;
  }

  private open(): void {
    if (this.depth === this.limits.levelsMax) {
      this.fail('too_deep');
    }
    this.at += 1;
    this.depth += 1;
  }

  private take(unit: number): boolean {
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== unit) {
      return false;
    }
    this.at += 1;
    return true;
  }

  private expect(unit: number): void {
    if (!this.take(unit)) {
      this.failSyntax();
    }
  }

  private skipSpace(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) {
        return;
      }
      this.at += 1;
    }
  }

  private fail(reason: StrictJsonReason): never {
    throw new StrictJsonError({ pointer: formatPointer(this.path.slice(0, this.depth)), reason });
  }

  private failSyntax(): never {
    throw new StrictJsonError({ pointer: '', reason: 'syntax' });
  }
}

function parseQuoted(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
