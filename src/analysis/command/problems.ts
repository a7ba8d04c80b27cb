import type { CommandProblem } from './analysis.ts';

const PROBLEMS_MAX = 32;
const SHOWN_MAX = 60;

/** What was found wrong so far: each problem once, and no more of them than a person reads. */
export class Problems {
  readonly #byText = new Map<string, CommandProblem>();

  add(code: CommandProblem['code'], text: string): void {
    if (this.#byText.size < PROBLEMS_MAX) this.#byText.set(`${code} ${text}`, { code, text });
  }

  addAll(problems: readonly CommandProblem[]): void {
    for (const { code, text } of problems) this.add(code, text);
  }

  get list(): CommandProblem[] {
    return [...this.#byText.values()];
  }
}

/** A piece of the command for a problem's text, in backticks and cut to what a line holds. */
export function shown(text: string): string {
  const points = [...text.slice(0, 2 * SHOWN_MAX)];
  return points.length > SHOWN_MAX || text.length > 2 * SHOWN_MAX
    ? `\`${points.slice(0, SHOWN_MAX).join('')}…\``
    : `\`${text}\``;
}
