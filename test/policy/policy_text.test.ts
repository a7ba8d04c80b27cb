import { expect, test } from 'vitest';
import { splitPolicyText } from '../../src/policy/policy_text.ts';

const policy = (id: string) => `@id("${id}")\npermit (principal, action, resource);`;

/** Id and place of each policy. */
function placesIn(text: string) {
  return splitPolicyText(text, null).policies.map(({ id, line, column }) => `${id} ${line}:${column}`);
}

test('each policy is told with the place it begins at, whatever stands around it', () => {
  const text = [
    `// ${policy('c').replaceAll('\n', ' ')}`,
    policy('b'),
    `  ${policy('a')} ${policy('c')}`,
    '',
    policy('d'),
  ].join('\n');

  expect(placesIn(text)).toEqual(['b 2:1', 'a 4:3', 'c 5:39', 'd 8:1']);
});

test('equal policies each have their own place', () => {
  const text = `${policy('a')} ${policy('a')}\n${policy('a')}`;

  expect(placesIn(text)).toEqual(['a 1:1', 'a 2:39', 'a 4:1']);
});

test('thousands of policies are placed by their lines', () => {
  const ids = Array.from({ length: 2_000 }, (_, index) => `p${index}`);

  expect(placesIn(ids.map(policy).join('\n'))).toEqual(ids.map((id, index) => `${id} ${index * 2 + 1}:1`));
});

test('an id is what Cedar reads, however it is written', () => {
  const forms = ['@doc("x") @id("a")', '@id ( "b" )', '@id("c\\u{64}")', '// @id("z")\n@id("e")'];
  const texts = forms.map((form) => `${form} permit (principal, action, resource);`);

  const { policies, problems } = splitPolicyText(texts.join('\n'), null);

  expect(policies.map(({ id }) => id)).toEqual(['a', 'b', 'cd', 'e']);
  expect(problems).toEqual([]);
});
