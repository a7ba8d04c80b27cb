import { describe, expect, it } from 'vitest';
import { parseStrictJson, StrictJsonError, type StrictJsonReason } from '../../src/core/strict_json.ts';
import { readJsonVector } from './vectors.ts';

interface Repeated {
  unit_base64: string;
  times: number;
  suffix_base64?: string;
}
interface Case {
  name: string;
  expect: 'accept' | 'reject' | 'either';
  base64?: string;
  repeat?: Repeated;
}

const { cases } = readJsonVector<{ cases: Case[] }>('json-test-suite/test-parsing.json');

/** Valid JSON (RFC 8259) that is refused on purpose, with the rule that refuses it. */
const STRICTER: Record<string, StrictJsonReason> = {
  'y_object_duplicated_key.json': 'duplicate_member',
  'y_object_duplicated_key_and_value.json': 'duplicate_member',
};

/** What the suite leaves to the reader and this one accepts: its canonical form is the number as written. */
const ACCEPTED_OPEN = ['i_number_too_big_pos_int.json'];

function bytesOf(vector: Case): Buffer {
  if (vector.repeat === undefined) {
    return Buffer.from(vector.base64 ?? '', 'base64');
  }
  const unit = Buffer.from(vector.repeat.unit_base64, 'base64').toString('latin1');
  const suffix = Buffer.from(vector.repeat.suffix_base64 ?? '', 'base64').toString('latin1');
  return Buffer.from(unit.repeat(vector.repeat.times) + suffix, 'latin1');
}

/** The reason of a refusal, or undefined; any other error is thrown on. */
function refusalOf(bytes: Uint8Array): StrictJsonReason | undefined {
  try {
    parseStrictJson(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof StrictJsonError) {
      return error.issues[0]?.reason;
    }
    throw error;
  }
}

describe('JSONTestSuite', () => {
  const named = (kind: Case['expect']) => cases.filter((vector) => vector.expect === kind);

  it('is here in full', () => {
    expect(['accept', 'reject', 'either'].map((kind) => named(kind as Case['expect']).length)).toStrictEqual([
      95, 188, 35,
    ]);
  });

  it.each(named('accept'))('accepts $name unless a stricter rule refuses it by name', (vector) => {
    const bytes = bytesOf(vector);
    expect(refusalOf(bytes)).toBe(STRICTER[vector.name]);
    if (STRICTER[vector.name] === undefined) {
      expect(parseStrictJson(bytes)).toStrictEqual(JSON.parse(bytes.toString('utf8')));
    }
  });

  it.each(named('reject'))('refuses $name', (vector) => {
    expect(refusalOf(bytesOf(vector))).toBeDefined();
  });

  it.each(named('either'))(
    'answers $name, which RFC 8259 leaves open, as listed and without a crash',
    (vector) => {
      expect(refusalOf(bytesOf(vector)) === undefined).toBe(ACCEPTED_OPEN.includes(vector.name));
    },
  );
});
