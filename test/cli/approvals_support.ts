import { createApprovalsCommands } from '../../src/cli/approvals/commands.ts';
import type { Surroundings } from '../../src/cli/approvals/surroundings.ts';
import { SURROUNDINGS } from '../../src/cli/approvals/surroundings.ts';
import { runGroup } from '../../src/cli/command.ts';
import type { Ended } from './support.ts';

/** Who runs the command, and where. */
export interface At {
  url: string;
  token?: string;
  /** Columns of the terminal; without them there is none. */
  columns?: number;
  /** What a person does when asked, having seen `shown`; without it there is none. */
  ask?: (question: string, shown: string) => Promise<string | undefined>;
  env?: Record<string, string>;
}

export interface Running {
  /** What was written so far. */
  said: Ended;
  ended: Promise<Ended>;
  interrupt(): void;
}

/** Starts `aegis approvals …` in this process, with a terminal that is read and a person who is played. */
export function start({ url, token, columns, ask, env }: At, ...args: string[]): Running {
  const said: Ended = { code: -1, stdout: '', stderr: '' };
  const interruption = new AbortController();
  const surroundings: Surroundings = {
    env: { AEGIS_URL: url, ...(token !== undefined && { AEGIS_KEY: token }), ...env },
    columns,
    ask: ask && ((question) => ask(question, said.stderr)),
    wait: SURROUNDINGS.wait,
    watchInterrupt: () => ({ signal: interruption.signal, release: () => undefined }),
  };
  const terminal = {
    print: (text: string) => {
      said.stdout += `${text}\n`;
    },
    complain: (text: string) => {
      said.stderr += `${text}\n`;
    },
    paint: (_: string, text: string) => text,
  };
  const ended = runGroup(createApprovalsCommands(surroundings), args, terminal).then((code) => {
    said.code = code;
    return said;
  });
  return { said, ended, interrupt: () => interruption.abort() };
}

/** Runs `aegis approvals …` to its end. */
export function approvals(at: At, ...args: string[]): Promise<Ended> {
  return start(at, ...args).ended;
}

/** Everything that a terminal would act on, hide or reorder, but line breaks. */
export const UNSAFE = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
