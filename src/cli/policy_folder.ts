import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '../core/operator_error.ts';
import type { RulesProblem } from '../core/rules.ts';
import { prepareFirstRevision } from '../operations/create_tenant.ts';
import type { Deps } from '../operations/deps.ts';
import { startRules } from '../operations/rules/start_rules.ts';
import { type FolderEvent, type FolderOutcome, takeFolder } from '../operations/rules/take_folder.ts';
import { formatProblem, PolicySetError } from '../policy/policy_set_error.ts';
import type { Database } from '../storage/database.ts';
import { ensureTenant, findActiveRevision } from '../storage/tenants.ts';
import { DEFAULT_TENANT } from './first_keys.ts';
import type { ServiceLog } from './service_log.ts';
import { TenantKeeper } from './tenant_keeper.ts';
import { type FolderWatch, watchFolder } from './watch_folder.ts';

/** The folder's folders whose files matter. */
const INNER_FOLDERS = ['tools', 'cases'];

/** So many problems are named where a person looks for the trouble at hand; the log has all of them. */
const PROBLEMS_SHOWN = 10;

const RETRY_MS = 2000;

/** Whoever copies a folder over another is done, or has changed more, when so long has passed. */
const SETTLE_MS = 500;

/** How often it is looked for tenants that no other process has brought up to date. */
const SWEEP_MS = 10_000;

export interface PolicyFolderOptions {
  deps: Pick<Deps, 'compiler' | 'policy' | 'revisions'>;
  database: Database;
  directory: string;
  log: ServiceLog;
}

/** The policy folder of a running service. */
export interface PolicyFolder {
  /** Why the folder as it is does not decide, or not for all tenants; null when it does. */
  problem(): Promise<string | null>;
  /** Reads the folder again because somebody asks for it. Never throws: what is wrong is logged and `problem`. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

function describe(problems: readonly RulesProblem[]): string {
  const lines = problems.slice(0, PROBLEMS_SHOWN).map(formatProblem);
  const more = problems.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** An error of the file system, which the thread that reads hands on by its code and message. */
function throwFileTrouble(error: unknown): never {
  const isOfFiles = error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code));
  if (!isOfFiles) throw error;
  throw new OperatorError(`${error.message}. Correct the path or its permissions`, error);
}

/** What anybody may be told of an error. */
function explain(error: unknown): string {
  if (error instanceof PolicySetError) return describe(error.problems);
  return error instanceof OperatorError ? error.message : 'it could not be read now. The log says why';
}

function isOperatorsTrouble(error: unknown): boolean {
  return error instanceof PolicySetError || error instanceof OperatorError;
}

/** Keeps the rules of the service those of its folder, and says when they are not. */
class FolderKeeper implements PolicyFolder {
  readonly #options: PolicyFolderOptions;
  readonly #tenants: TenantKeeper;
  readonly #closing = new AbortController();
  #folderProblem: string | null = null;
  /** Digest of the rules as they were read last; undefined while the folder is of no use. */
  #digest: string | undefined;
  #watch: FolderWatch | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #sweepTimer: NodeJS.Timeout | undefined;
  /** Readings one after another: each sees what the one before has done. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: PolicyFolderOptions) {
    this.#options = options;
    this.#tenants = new TenantKeeper(options.deps, options.log);
  }

  async problem(): Promise<string | null> {
    const problems = [this.#folderProblem, await this.#tenants.problem()];
    const told = problems.filter((problem) => problem !== null);
    return told.length === 0 ? null : told.join('\n');
  }

  /**
   * Takes the folder as it is, or goes on with what is stored; from before that it is watched.
   * @throws PolicySetError, or the file system's error, when the folder is of no use and nothing is stored.
   */
  async start(): Promise<void> {
    const { directory, log } = this.#options;
    this.#watch = watchFolder(
      directory,
      INNER_FOLDERS,
      () => this.#lookAgain(),
      (error) =>
        log.warn(
          { err: error, folder: directory },
          'the policy folder cannot be watched. Send SIGHUP after a change',
        ),
    );
    const started = this.#startRules();
    this.#last = started.catch(() => this.#watch?.close());
    await started;
    this.#scheduleSweep();
  }

  async #startRules(): Promise<void> {
    const { deps, database } = this.#options;
    await this.#startFolder();
    if ((await findActiveRevision(database, DEFAULT_TENANT)) === undefined) {
      await ensureTenant(database, await prepareFirstRevision(deps, DEFAULT_TENANT));
    }
    await this.#tenants.keep(() => startRules(deps, DEFAULT_TENANT));
  }

  reload(): Promise<void> {
    return this.#enqueue({ kind: 'asked' });
  }

  async close(): Promise<void> {
    this.#watch?.close();
    this.#closing.abort();
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#sweepTimer);
    await this.#last;
  }

  async #startFolder(): Promise<void> {
    const { deps, directory, log } = this.#options;
    try {
      const outcome = await this.#take({ kind: 'start' });
      if (outcome.kind !== 'superseded') return;
      log.warn(
        { folder: directory },
        'the rules of the policy folder were in force before, and others were activated since: those decide. Bring the folder up to date, or send SIGHUP to put it in force again',
      );
    } catch (error) {
      if ((await deps.revisions.findBase()) === undefined) throw error;
      this.#reportFolder(error);
    }
  }

  /** @throws PolicySetError, or the file system's error, for a folder that is of no use. */
  async #take(event: FolderEvent): Promise<FolderOutcome> {
    const { deps, directory } = this.#options;
    const outcome = await takeFolder(deps, directory, event).catch(throwFileTrouble);
    if (outcome.kind === 'refused') throw new PolicySetError(outcome.problems);
    if (outcome.kind === 'unsettled') return outcome;
    this.#digest = outcome.digest;
    this.#folderProblem = null;
    if (outcome.kind === 'in_force' && outcome.dropped.length > 0) {
      this.#options.log.warn(
        { folder: directory, dropped: outcome.dropped },
        'the policy folder no longer has policies that were in force, and they no longer decide. Put them back if that was not meant',
      );
    }
    return outcome;
  }

  #lookAgain(): void {
    const settle = () => pause(SETTLE_MS, undefined, { ref: false, signal: this.#closing.signal });
    void this.#enqueue({ kind: 'changed', former: this.#digest, pause: settle });
  }

  #enqueue(event: FolderEvent): Promise<void> {
    this.#last = this.#last
      .then(() => this.#reload(event))
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#reportFolder(error);
        if (!isOperatorsTrouble(error)) this.#retry(event);
      });
    return this.#last;
  }

  /** What the folder is not to blame for, such as a database that does not answer, may have passed by then. */
  #retry(event: FolderEvent): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#enqueue(event), RETRY_MS).unref();
  }

  async #reload(event: FolderEvent): Promise<void> {
    const { directory, log } = this.#options;
    const outcome = await this.#take(event);
    if (outcome.kind === 'unchanged') return;
    if (outcome.kind === 'unsettled') {
      this.#lookAgain();
      return;
    }
    await this.#tenants.bringUp();
    log.info({ folder: directory }, 'the policy folder was read again, and is in force');
  }

  /** A bad folder is as if it had not changed, but for what is said of it. */
  #reportFolder(error: unknown): void {
    const { directory, log } = this.#options;
    this.#digest = undefined;
    this.#folderProblem = `the policy folder was not taken, and the former rules decide: ${explain(error)}`;
    log.error(
      { err: error, folder: directory },
      'the policy folder was not taken, and the former rules decide',
    );
  }

  /** The process that puts other base rules in force may end before every tenant has them: any other goes on. */
  #scheduleSweep(): void {
    if (this.#closing.signal.aborted) return;
    this.#sweepTimer = setTimeout(() => {
      this.#last = this.#last.then(() => this.#tenants.sweep()).finally(() => this.#scheduleSweep());
    }, SWEEP_MS).unref();
  }
}

/** Starts to keep the service's rules those of its policy folder. @throws as `FolderKeeper.start`. */
export async function startPolicyFolder(options: PolicyFolderOptions): Promise<PolicyFolder> {
  const keeper = new FolderKeeper(options);
  await keeper.start();
  return keeper;
}
