import { OperatorError } from '../core/operator_error.ts';
import type { VariableName } from './config_names.ts';

/** The environment does not make a configuration. The message names the variable at fault. */
export class ConfigError extends OperatorError {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/** Reads single variables. A variable set to the empty string counts as unset, as Compose files pass it. */
export class EnvReader {
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  find(name: VariableName): string | undefined {
    return this.#env[name] || undefined;
  }

  /** A whole number in decimal, without sign, space or leading zero. */
  integer(name: VariableName, range: { min: number; max: number; fallback: number }): number {
    const { min, max, fallback } = range;
    const text = this.find(name);
    if (text === undefined) {
      return fallback;
    }
    const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      throw badValue(name, text, `a whole number from ${min} to ${max}`, String(fallback));
    }
    return value;
  }

  /** One of the given words; the first when unset. */
  choice<Word extends string>(name: VariableName, words: readonly [Word, ...Word[]]): Word {
    const text = this.find(name);
    const word = text === undefined ? words[0] : words.find((known) => known === text);
    if (word === undefined) {
      throw badValue(name, text, `one of ${words.map((known) => `\`${known}\``).join(', ')}`, words[0]);
    }
    return word;
  }

  /** `1` for yes; unset, empty or `0` for no. */
  flag(name: VariableName): boolean {
    return this.choice(name, ['0', '1']) === '1';
  }

  /** A text of one line; `fallback` when unset. */
  path(name: VariableName, fallback: string): string {
    const text = this.find(name) ?? fallback;
    if (hasControl(text)) {
      throw badValue(name, text, 'a path without control characters', fallback);
    }
    return text;
  }

  /** A text that matches; its value is in no message. */
  secret(name: VariableName, rule: { pattern: RegExp; what: string; example: string }): string | undefined {
    const text = this.find(name);
    if (text !== undefined && !rule.pattern.test(text)) {
      throw badValue(name, undefined, rule.what, rule.example);
    }
    return text;
  }
}

/** The one form of message for a value that is wrong; without the value where it may be secret. */
export function badValue(
  name: VariableName,
  text: string | undefined,
  what: string,
  example: string,
): ConfigError {
  const value = text === undefined ? '' : ` is \`${oneLine(text)}\` but`;
  return new ConfigError(`${name}${value} must be ${what}. For example: ${name}=${example}`);
}

/** A text as it may stand in a message: on one line, without control characters, not endless. */
export function oneLine(text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return shown.replace(/\p{C}/gu, '\ufffd');
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
