import { describe, expect, it } from 'vitest';
import { ConfigError } from '../src/cli/config.ts';
import { describeError } from '../src/cli/describe_error.ts';
import { OperatorError } from '../src/core/operator_error.ts';
import { PolicySetError, problem } from '../src/policy/policy_set_error.ts';
import { EmbeddedPostgresError } from '../src/storage/embedded/embedded_error.ts';

describe('what an operator can mend', () => {
  it.each([OperatorError, ConfigError, EmbeddedPostgresError])(
    'is one kind of error, and one line: %o',
    (Kind) => {
      const error = new Kind('it is so. Do this');
      expect(error).toBeInstanceOf(OperatorError);
      expect(error.name).toBe(Kind.name);
      expect(describeError(error)).toBe('it is so. Do this');
    },
  );

  it('is a line for each problem of a policy set', () => {
    const error = new PolicySetError([problem('one', 'Mend it.'), problem('two', null)]);
    expect(describeError(error)).toBe('one. Mend it.\ntwo');
  });
});

it('what only its author can mend is told whole', () => {
  expect(describeError(new Error('a bug'))).toMatch(/^Error: a bug\n +at /);
});
