import { describe, expect, test } from 'vitest';
import { negotiate } from '../../src/http/negotiate.ts';

const OFFERED = ['application/json', 'text/plain'] as const;

describe('of json and text a client gets', () => {
  test.each([
    ['json without a header', undefined, 'application/json'],
    ['json for anything', '*/*', 'application/json'],
    ['what it names', 'text/plain', 'text/plain'],
    ['what it names, in any case, with spaces', ' TEXT/Plain ; Q=0.5', 'text/plain'],
    ['what it names by half', 'text/*', 'text/plain'],
    ['the one it likes better', 'application/json;q=0.2, text/plain;q=0.3', 'text/plain'],
    ['json where it likes both alike', 'text/plain, application/json', 'application/json'],
    ['the other where one weighs nothing', 'application/json;q=0, */*;q=0.1', 'text/plain'],
    [
      'by the closest range, not by the best',
      'text/plain;q=0.1, text/*, application/json;q=0.5',
      'application/json',
    ],
    ['text where a browser asks', 'text/html, text/plain;q=0.9, */*;q=0.8', 'text/plain'],
    ['json where none is acceptable', 'text/plain;q=0', 'application/json'],
    ['json where the header is no list of ranges', 'text/plain;q=2, ;;, q', 'application/json'],
    ['json where only text of another form is wanted', 'text/plain;format=flowed', 'application/json'],
    ['text where it says in which coding', 'text/plain; charset=UTF-8;q=0.9', 'text/plain'],
    ['json where only text of another coding is wanted', 'text/plain;charset=utf-16', 'application/json'],
    ['json for an empty header', '', 'application/json'],
  ])('%s', (_, accept, expected) => {
    expect(negotiate(accept, OFFERED)).toBe(expected);
  });
});
