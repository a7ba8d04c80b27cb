import { describe, expect, it } from 'vitest';
import type { CommandAnalysis } from '../../../src/analysis/command/analysis.ts';
import { parsePosix } from '../../../src/analysis/command/posix/parse_posix.ts';
import { analyse, executables, unexplained, unquotedText, vectorCases } from './analysis_tools.ts';

const NONE = { new: [], settled: [] };

/** What the corpora call a construct, and what it is here; null for what is no more than a word. */
const CONSTRUCT_NAMES: Readonly<Record<string, string | null>> = {
  redirect: 'redirection',
  herestring: 'redirection',
  heredoc: 'here_document',
  backtick: 'command_substitution',
  brace_group: 'group',
  ansi_c_string: null,
  declaration: null,
};

function flatExecutables({ segments }: CommandAnalysis): string[] {
  return segments.flatMap(({ words: [name] }) => (name === undefined ? [] : [unquotedText(name)]));
}

/** What of `wanted` is not in `found`, counting repeats. */
function missing(wanted: readonly string[], found: readonly string[]): string[] {
  const left = [...found];
  return wanted.filter((name) => {
    const at = left.indexOf(name);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

describe('agrees with real bash on', () => {
  // Words are compared after quote removal, their expansions as written: bash ran with globbing and braces off.
  it('the segments, operators and arguments of plain lines', () => {
    interface Case {
      command: string;
      segments: string[][];
      operators: string[];
    }
    const disagreeing = vectorCases<Case>('nl2bash-plain.json').filter(({ command, segments, operators }) => {
      const { segments: found, understood } = parsePosix(command);
      const argv = found.map(({ words }) => words.map(unquotedText));
      const joined = found.slice(1).map(({ operator }) => operator);
      return !understood || JSON.stringify([argv, joined]) !== JSON.stringify([segments, operators]);
    });
    expect(
      unexplained(
        'nl2bash-plain.json',
        disagreeing.map(({ command }) => command),
      ),
    ).toStrictEqual(NONE);
  });
});

describe('agrees with bashlex and tree-sitter-bash on', () => {
  it('the constructs of a line, and finds no executable less', () => {
    interface Case {
      command: string;
      constructs: string[];
      executables: string[];
      nested_executables: string[];
    }
    const disagreeing = vectorCases<Case>('nl2bash-constructs.json').filter((wanted) => {
      const analysis = parsePosix(wanted.command);
      const constructs = wanted.constructs.flatMap((name) =>
        name in CONSTRUCT_NAMES ? (CONSTRUCT_NAMES[name] ?? []) : name,
      );
      const names = [...wanted.executables, ...wanted.nested_executables];
      return (
        missing(names, flatExecutables(analysis)).length > 0 ||
        constructs.some((name) => !analysis.constructs.some((found) => found === name))
      );
    });
    expect(
      unexplained(
        'nl2bash-constructs.json',
        disagreeing.map(({ command }) => command),
      ),
    ).toStrictEqual(NONE);
  });

  it('the number of commands of the tree-sitter corpus, or finds more', () => {
    interface Case {
      name: string;
      source: string;
      commands: number;
    }
    const disagreeing = vectorCases<Case>('tree-sitter-bash-corpus.json').filter(
      ({ source, commands }) => flatExecutables(parsePosix(source)).length < commands,
    );
    expect(
      unexplained(
        'tree-sitter-bash-corpus.json',
        disagreeing.map(({ name }) => name),
      ),
    ).toStrictEqual(NONE);
  });
});

describe('agrees with mvdan/sh on', () => {
  it('what is no shell text: it is not understood', () => {
    interface Case {
      source?: string;
      source_base64?: string;
      bash_n: string;
    }
    const texts = vectorCases<Case>('mvdan-sh-syntax-errors.json').map(
      ({ source, source_base64 }) => source ?? Buffer.from(source_base64 ?? '', 'base64').toString('utf8'),
    );
    const disagreeing = texts.filter((text) => analyse(text).understood);
    expect(unexplained('mvdan-sh-syntax-errors.json', disagreeing)).toStrictEqual(NONE);
  });

  it('what bash itself refuses: none of it is understood', () => {
    interface Case {
      source?: string;
      bash_n: string;
    }
    const refused = vectorCases<Case>('mvdan-sh-syntax-errors.json').flatMap(({ source, bash_n }) =>
      bash_n === 'syntax error' && source !== undefined ? [source] : [],
    );
    expect(refused.length).toBeGreaterThan(100);
    expect(refused.filter((text) => analyse(text).understood)).toStrictEqual([]);
  });

  it('the executables of texts that are the same', () => {
    interface Case {
      equivalent_sources: string[];
    }
    const disagreeing = vectorCases<Case>('mvdan-sh-inputs.json').filter(({ equivalent_sources }) => {
      const understood = equivalent_sources.map(parsePosix).filter((analysis) => analysis.understood);
      return new Set(understood.map((analysis) => JSON.stringify(flatExecutables(analysis)))).size > 1;
    });
    const inputs = disagreeing.map(({ equivalent_sources }) => equivalent_sources[0] ?? '');
    expect(unexplained('mvdan-sh-inputs.json', inputs)).toStrictEqual(NONE);
  });
});

describe('agrees with shell-quote on', () => {
  it('words and operators', () => {
    interface Case {
      input: string;
      tokens: (string | { op: string })[];
    }
    const disagreeing = vectorCases<Case>('shell-quote-tokens.json').filter(({ input, tokens }) => {
      const { segments } = parsePosix(input);
      const found = segments.flatMap(({ words, operator, redirections }, index) => [
        ...(index === 0 ? [] : [{ op: operator }]),
        ...words.map(unquotedText),
        ...redirections.flatMap(({ operator: op, target }) => [
          { op },
          ...(target === null ? [] : [unquotedText(target)]),
        ]),
      ]);
      return JSON.stringify(found) !== JSON.stringify(tokens);
    });
    expect(
      unexplained(
        'shell-quote-tokens.json',
        disagreeing.map(({ input }) => input),
      ),
    ).toStrictEqual(NONE);
  });
});

describe('agrees with other products on', () => {
  // Their policy refuses any construct. Here it is flagged, and the allowlist refuses it.
  it('which commands can be taken apart, and into which executables', () => {
    interface Case {
      command: string;
      platform: 'posix' | 'win32';
      analysable: boolean;
      executables?: string[];
      argv?: string[][];
    }
    const disagreeing = vectorCases<Case>('peer-exec-analysis.json').filter((wanted) => {
      const analysis = analyse(wanted.command, { cwd: wanted.platform === 'win32' ? 'C:\\work' : null });
      if (!wanted.analysable) return analysis.understood && analysis.constructs.length === 0;
      const argv = JSON.stringify(wanted.argv ?? []);
      const found = [analysis.segments, ...analysis.segments.map(({ inner }) => inner)].map((segments) =>
        JSON.stringify(segments.map(({ words }) => words.map(({ value }) => value))),
      );
      return (
        !analysis.understood ||
        missing(wanted.executables ?? [], executables(analysis)).length > 0 ||
        (wanted.argv !== undefined && !found.includes(argv))
      );
    });
    expect(
      unexplained(
        'peer-exec-analysis.json',
        disagreeing.map(({ command }) => command),
      ),
    ).toStrictEqual(NONE);
  });

  it('which commands hide what they run', () => {
    interface Case {
      command: string;
      detected: boolean;
    }
    const disagreeing = vectorCases<Case>('obfuscated-commands.json').filter(
      ({ command, detected }) => analyse(command).understood === detected,
    );
    expect(
      unexplained(
        'obfuscated-commands.json',
        disagreeing.map(({ command }) => command),
      ),
    ).toStrictEqual(NONE);
  });

  it('what an argument vector runs, whatever text is shown for it', () => {
    interface Case {
      command: string[];
    }
    for (const { command } of vectorCases<Case>('approval-display-binding.json')) {
      const analysis = analyse('true', { argv: command });
      expect(analysis.segments).toHaveLength(1);
      expect(analysis.segments[0]?.words.map(({ value }) => value)).toStrictEqual(command);
      expect(analysis.segments.at(0)?.redirections).toStrictEqual([]);
      const carriesName = command.some((word) => word.startsWith('$0'));
      const setsEnvironment = command.some((word) => word.startsWith('BASH_ENV='));
      expect(analysis.understood, command.join(' ')).toBe(!carriesName && !setsEnvironment);
    }
  });
});
