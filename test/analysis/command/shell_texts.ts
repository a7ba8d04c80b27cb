import fc from 'fast-check';
import { vectorCases } from './analysis_tools.ts';

interface Sourced {
  command?: string;
  source?: string;
  input?: string;
  equivalent_sources?: string[];
}

/** Every shell text of the vectors. None of them is ever run. */
export const VECTOR_TEXTS: readonly string[] = [
  'nl2bash-constructs.json',
  'tree-sitter-bash-corpus.json',
  'mvdan-sh-inputs.json',
  'mvdan-sh-syntax-errors.json',
  'shell-quote-tokens.json',
  'peer-exec-analysis.json',
  'obfuscated-commands.json',
  'destructive-commands.json',
].flatMap((file) =>
  vectorCases<Sourced>(file).flatMap(({ command, source, input, equivalent_sources }) => [
    ...[command, source, input].filter((text) => text !== undefined),
    ...(equivalent_sources ?? []),
  ]),
);

/** What shells give a meaning. */
const TOKENS =
  `$( \${ $(( )) ) } ( { \` " ' \\ \n \r \t ; & | && || |& < > << <<- <<< >& &> <( >( # ! ~ * ? [ ] [[ ]] = += $ $' $" @( :- E EOF
  a rm sudo env sh -c bash eval xargs find -exec {} \\; + timeout 5 if then fi for in do done case esac while function
  time coproc alias x=1 PATH=x /dev/null - -- % ^ powershell -enc cmd /c awk sed s/a/b/ \0 \u0085 \u202e é 𝒶`
    .split(' ')
    .concat(' ', '\n', ' ');

/** Texts that look like shell here and there. */
export function shellSoup(maxLength = 40): fc.Arbitrary<string> {
  return fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...TOKENS) },
        fc.string({ unit: 'binary', maxLength: 3 }),
      ),
      {
        maxLength,
      },
    )
    .map((tokens) => tokens.join(''));
}

/** A text of the vectors with some of it cut out, doubled or replaced. */
export function mutatedVector(): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 8 }),
    kind: fc.constantFrom('cut', 'double', 'replace'),
    token: fc.constantFrom(...TOKENS),
  });
  return fc
    .tuple(fc.constantFrom(...VECTOR_TEXTS), fc.array(edit, { minLength: 1, maxLength: 5 }))
    .map(([start, edits]) =>
      edits.reduce((text, { at, length, kind, token }) => {
        const from = at % (text.length + 1);
        const piece = text.slice(from, from + length);
        const middle = kind === 'cut' ? '' : kind === 'double' ? piece + piece : token;
        return text.slice(0, from) + middle + text.slice(from + length);
      }, start),
    );
}
