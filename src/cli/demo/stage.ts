import { styleText } from 'node:util';

/** Who speaks in the demo. */
export type Actor = 'agent' | 'approver' | 'attacker' | 'service' | 'network';

const COLOURS = {
  agent: 'cyan',
  approver: 'magenta',
  attacker: 'red',
  service: 'blue',
  network: 'yellow',
} as const satisfies Record<Actor, string>;

/** Where the scenes are told, line by line, and where is kept whether each ended as told. */
export class Stage {
  readonly #write: (line: string) => void;
  readonly #isColoured: boolean;
  #scenes = 0;
  #failures = 0;

  constructor(write: (line: string) => void, isColoured: boolean) {
    this.#write = write;
    this.#isColoured = isColoured;
  }

  /** Claims that did not hold so far. */
  get failures(): number {
    return this.#failures;
  }

  scene(title: string): void {
    this.#scenes += 1;
    this.#write(`\n${this.#paint('bold', `${this.#scenes}. ${title}`)}`);
  }

  say(actor: Actor, text: string): void {
    this.#write(`   ${this.#paint(COLOURS[actor], actor.padEnd(9))} ${text}`);
  }

  /** Tells how a scene ended, and whether that is how it has to end. */
  claim(text: string, holds: boolean, seen: string): void {
    if (holds) {
      this.#write(`   ${this.#paint('green', '✓')} ${text}`);
      return;
    }
    this.#failures += 1;
    this.#write(`   ${this.#paint('red', '✗')} ${text}: not so, but ${seen}`);
  }

  note(text: string): void {
    this.#write(`   ${text}`);
  }

  #paint(style: Parameters<typeof styleText>[0], text: string): string {
    return this.#isColoured ? styleText(style, text) : text;
  }
}
