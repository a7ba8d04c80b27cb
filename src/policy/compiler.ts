import type { Rules, RulesProblem } from '../core/rules.ts';
import type { Flip, PastCall, PolicyCompiler, Refused } from '../core/rules_ports.ts';
import { CompileThread, JobTimeout } from './compile_thread.ts';
import { openRules } from './open.ts';
import { locateProblems, type PolicyPlaces } from './places.ts';
import { problem } from './policy_set_error.ts';
import { TenantTurns } from './tenant_turns.ts';

export interface PolicyCompilerOptions {
  /** The built file of `compile_worker.ts`. */
  workerPath: string;
  /** How long one job may take. */
  deadlineMs?: number;
  /** How long a thread without a job is kept. */
  idleMs?: number;
}

/** Ten times what 10,000 policies on 1,000 tools take. */
const DEADLINE_MS = 120_000;
const IDLE_MS = 5_000;

/** Calls handed over at once: few enough that writing them down holds up nobody. */
const CALLS_PER_MESSAGE = 200;

/**
 * Compiles on a worker thread, one job at a time; sets are opened on this thread. Problems of policies are told with
 * file, line and column as long as the policies are handed on in the very object that `readFolder` or `splitText`
 * gave: places are remembered by that object. `compile` gives sets of type `OpenPolicySet`.
 */
export function createPolicyCompiler({
  workerPath,
  deadlineMs = DEADLINE_MS,
  idleMs = IDLE_MS,
}: PolicyCompilerOptions): PolicyCompiler {
  const thread = new CompileThread({ workerPath, deadlineMs, idleMs });
  const placesOf = new WeakMap<object, PolicyPlaces>();
  const turns = new Turns();
  const tenantTurns = new TenantTurns();

  const locate = (rules: Rules, { problems }: Refused): Refused => ({
    kind: 'refused',
    problems: [rules.base.policies, rules.policies].reduce<RulesProblem[]>(
      (found, policies) => locateProblems(found, placesOf.get(policies) ?? {}),
      problems,
    ),
  });

  return {
    readFolder: (directory) =>
      turns.take(async () => {
        const reading = await thread.run('readFolder', directory);
        if (reading.kind === 'refused') return reading;
        placesOf.set(reading.base.policies, reading.places);
        return { kind: 'read', base: reading.base };
      }),
    splitText: (text) =>
      turns.take(async () => {
        const reading = await thread.run('splitText', text);
        if (reading.kind === 'refused') return reading;
        placesOf.set(reading.policies, reading.places);
        return { kind: 'split', policies: reading.policies };
      }),
    compile: (rules) =>
      turns.take(async () => {
        const compilation = await thread.run('compile', rules);
        return compilation.kind === 'refused'
          ? locate(rules, compilation)
          : { kind: 'compiled', set: openRules(compilation.compiled) };
      }),
    simulate: (rules, calls) =>
      turns.take(async () => {
        const rehearsal = await thread.run('rehearse', rules);
        return rehearsal.kind === 'refused'
          ? locate(rules, rehearsal)
          : { kind: 'simulated', flips: await redecide(thread, calls) };
      }),
    inTurn: (tenantId, work) => tenantTurns.take(tenantId, work),
    close: () => {
      turns.close();
      return thread.end();
    },
  };
}

async function redecide(thread: CompileThread, calls: readonly PastCall[]): Promise<Flip[]> {
  const flips: Flip[] = [];
  for (let start = 0; start < calls.length; start += CALLS_PER_MESSAGE) {
    flips.push(...(await thread.run('redecide', calls.slice(start, start + CALLS_PER_MESSAGE))));
  }
  return flips;
}

/** Runs jobs one after another, in the order they came. One that takes too long is refused. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  take<Answer>(job: () => Promise<Answer>): Promise<Answer | Refused> {
    const turn = this.#last.then(() => this.#run(job));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Those that wait, and those that come, fail. */
  close(): void {
    this.#isClosed = true;
  }

  async #run<Answer>(job: () => Promise<Answer>): Promise<Answer | Refused> {
    if (this.#isClosed) throw new Error('the compiler is closed');
    try {
      return await job();
    } catch (error) {
      if (error instanceof JobTimeout) return tookTooLong();
      throw error;
    }
  }
}

function tookTooLong(): Refused {
  const help = 'Use fewer policies, and name actions in their scopes.';
  return { kind: 'refused', problems: [problem('checking the rules takes too long', help)] };
}
