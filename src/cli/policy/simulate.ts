import { Fault } from '../../core/fault.ts';
import { formatId } from '../../core/ids.ts';
import { OperatorError } from '../../core/operator_error.ts';
import type { PolicySet } from '../../core/policy.ts';
import type { ActiveRules, Flip, PastCall } from '../../core/rules_ports.ts';
import { findFlips } from '../../policy/simulate.ts';
import type { Database } from '../../storage/database.ts';
import { createRevisionStore } from '../../storage/revisions.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { type Config, loadConfig } from '../config.ts';
import { oneLine } from '../config_values.ts';
import { DEFAULT_TENANT } from '../first_keys.ts';
import { count, type Terminal, toJsonText, visible } from '../terminal.ts';
import { assertTenant, withDatabase } from '../with_database.ts';
import { compileFolder, findPolicyDirectory, readFolder } from './folder.ts';

const USAGE = 'aegis policy simulate [DIR] [--since 24h] [--limit 1000] [--tenant ID] [--json]';
const LIMIT_MAX = 10_000;
const SINCE_DEFAULT = '24h';
const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

interface Simulation {
  tenant: string;
  revisions: { active: string; candidate: string };
  evaluated: { decisions: number; approvals: number };
  flips: Flip[];
  /** Open approvals that activating the candidate would void. */
  voidedApprovals: number;
}

/** `aegis policy simulate`: what a folder would have decided of the calls that a tenant's agents made. */
export const simulate: Command = {
  usage: USAGE,
  summary:
    'decides the stored calls and the open approvals of a tenant again under a folder, its own policies on top; 1 when any flips',
  run: async (args, terminal) => {
    const options = {
      json: { type: 'boolean' },
      since: { type: 'string' },
      limit: { type: 'string' },
      tenant: { type: 'string' },
    } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 0, max: 1 });
    const since = parseSince(values.since ?? SINCE_DEFAULT, new Date());
    const limit = parseLimit(values.limit ?? '1000');
    const tenant = values.tenant ?? DEFAULT_TENANT;
    const config = loadConfig(process.env);
    const folder = await readFolder(findPolicyDirectory(positionals[0]));
    const { active, calls } = await withDatabase(config, (database) =>
      readTenant(database, tenant, since, limit),
    ).catch((error: unknown) => {
      throw error instanceof Fault ? new OperatorError(error.detail, error) : error;
    });
    const set = compileFolder(folder, active.rules);
    const simulation = simulateCalls(config, tenant, active, set, calls);
    if (values.json === true) terminal.print(toJsonText(toWire(simulation)));
    else printSimulation(terminal, simulation);
    return simulation.flips.length === 0 ? 0 : 1;
  },
};

/** A time: RFC 3339, or how long ago. */
function parseSince(text: string, now: Date): Date {
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(now.getTime() - Number(count) * (UNIT_MS[unit] ?? 0));
  }
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  if (isTime && !Number.isNaN(Date.parse(text))) return new Date(text);
  throw new OperatorError(
    `\`--since\` is \`${oneLine(text)}\` but must be a time such as 24h, 7d or 2026-01-02T03:04:05Z`,
  );
}

function parseLimit(text: string): number {
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= LIMIT_MAX) return limit;
  throw new OperatorError(
    `\`--limit\` is \`${oneLine(text)}\` but must be a whole number from 1 to ${LIMIT_MAX}`,
  );
}

async function readTenant(database: Database, tenant: string, since: Date, limit: number) {
  await assertTenant(database, tenant);
  // Nothing is written here, so there is nothing to tell other processes of.
  const store = createRevisionStore(database, { publish: () => undefined });
  const active = await store.readActive(tenant);
  return { active, calls: await store.readPastCalls(tenant, since, limit) };
}

function simulateCalls(
  config: Config,
  tenant: string,
  active: ActiveRules,
  candidate: PolicySet,
  calls: readonly PastCall[],
): Simulation {
  const flips = findFlips(candidate, calls);
  const approvals = calls.filter(({ kind }) => kind === 'approval').length;
  const isOther = candidate.revision !== active.revision;
  // A strict service voids whatever another revision decided; else what the new one denies.
  const voidedApprovals =
    config.policyDrift === 'strict' && isOther
      ? approvals
      : flips.filter(({ kind, to }) => kind === 'approval' && to === 'deny').length;
  return {
    tenant,
    revisions: { active: active.revision, candidate: candidate.revision },
    evaluated: { decisions: calls.length - approvals, approvals },
    flips,
    voidedApprovals,
  };
}

function toWire({ flips, voidedApprovals, ...simulation }: Simulation) {
  return {
    ...simulation,
    flips: flips.map(({ kind, id, from, to, determiningPolicies }) => ({
      kind,
      id: formatId(kind, id),
      from,
      to,
      determining_policies: determiningPolicies,
    })),
    voided_approvals: voidedApprovals,
  };
}

function printSimulation(terminal: Terminal, simulation: Simulation): void {
  const { tenant, evaluated, flips, voidedApprovals, revisions } = simulation;
  for (const { kind, id, from, to, determiningPolicies } of flips) {
    const why = determiningPolicies.length === 0 ? 'no policy' : determiningPolicies.join(', ');
    terminal.print(`${formatId(kind, id)}  ${from} → ${to}, decided by ${visible(why)}`);
  }
  const total = `${count(evaluated.decisions, 'decision')} and ${count(evaluated.approvals, 'open approval')}`;
  terminal.print(`tenant ${visible(tenant)}: ${total} decided again, ${flips.length} would flip`);
  terminal.print(`${count(voidedApprovals, 'open approval')} would be voided`);
  if (revisions.active === revisions.candidate) terminal.print('the folder is what is active already');
}
