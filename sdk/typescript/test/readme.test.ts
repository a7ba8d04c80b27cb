import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AegisError } from '../src/index.ts';

const folder = new URL('../examples/', import.meta.url);
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1]);
const examples = readdirSync(folder);

describe('the README shows each example as it is type-checked', () => {
  test.each(examples)('%s', (name) => {
    const source = readFileSync(new URL(name, folder), 'utf8');
    const installed = source
      .replaceAll("'../src/index.ts'", "'@aegis/sdk'")
      .replaceAll("'../src/command/index.ts'", "'@aegis/sdk/command'");
    expect(blocks).toContain(installed);
  });

  test('and no code beside', () => {
    expect(blocks).toHaveLength(examples.length);
  });
});

test('the README lists every error code', () => {
  const codes = [...readme.matchAll(/^\| `([a-z_]+)` +\|[^|]*\|[^|]*\|$/gm)].map((match) => match[1]);
  const told = codes.filter((code) => new AegisError(code as never, 'x').forModel !== undefined);
  expect(told).toEqual(codes);
  expect(codes).toHaveLength(13);
});
