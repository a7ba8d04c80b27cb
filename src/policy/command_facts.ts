import { bindsWhatRuns } from '../analysis/allowlist/binds_what_runs.ts';
import { judgeAllowlist } from '../analysis/allowlist/judge_allowlist.ts';
import { listExecutables } from '../analysis/command/analysis.ts';
import type { ExaminedCommand } from '../analysis/examine_command.ts';
import {
  type AgentExecRules,
  EXEC_ASKS,
  EXEC_FALLBACKS,
  EXEC_SECURITIES,
  type ExecAsk,
  type ExecFallback,
  type ExecRules,
  type ExecSecurity,
} from '../core/exec_approvals.ts';

/** What policy is told of a command, under the names that policies read in `context.command`. */
export interface CommandFacts {
  /** Whether it breaks a rule of the floor, and which. */
  floor: boolean;
  floor_rules: string[];
  /** Whether all that it would run is known. */
  understood: boolean;
  /** As written, those that are known; in no order. */
  executables: string[];
  /** Whether whatever could change what runs is part of the action. */
  bound: boolean;
  /** Whether entries of the allowlist match all of its executables. */
  matched: boolean;
  /** Whether exec approvals cover it, by entries or otherwise. Neither is true where none are stored. */
  allowlisted: boolean;
  /** What exec approvals say of the agent; absent where none are stored. */
  security?: ExecSecurity;
  ask?: ExecAsk;
  ask_fallback?: ExecFallback;
}

/** The facts of a command for an agent. A node's document can only tighten what the tenant's says. */
export function findCommandFacts(
  command: ExaminedCommand,
  { tenant, node }: AgentExecRules,
  isSkill: boolean,
): CommandFacts {
  const { call, analysis, floor } = command;
  const rules = [tenant, node].filter((one) => one !== null);
  const executables = listExecutables(analysis).flatMap(({ value }) => (value === null ? [] : [value]));
  const covers = rules.map((one) => findCover(command, one, isSkill));
  const facts: CommandFacts = {
    floor: floor.length > 0,
    floor_rules: [...new Set(floor.map(({ rule }) => rule))].toSorted(),
    understood: analysis.understood,
    executables: [...new Set(executables)].toSorted(),
    bound: bindsWhatRuns(call, analysis),
    matched: tenant !== null && covers.every(({ matched }) => matched),
    allowlisted: tenant !== null && covers.every(({ covered }) => covered),
  };
  if (rules.length === 0) return facts;
  return {
    ...facts,
    security: strictest(
      EXEC_SECURITIES,
      rules.map(({ security }) => security),
    ),
    ask: strictest(
      EXEC_ASKS,
      rules.map(({ ask }) => ask),
    ),
    ask_fallback: strictest(
      EXEC_FALLBACKS,
      rules.map(({ askFallback }) => askFallback),
    ),
  };
}

/** Whether entries match the command, and whether the rules cover it, by entries or otherwise. */
function findCover({ call, analysis }: ExaminedCommand, rules: ExecRules, isSkill: boolean) {
  const { security, autoAllowSkills, allowlist } = rules;
  const matched = allowlist.length > 0 && judgeAllowlist(call, analysis, allowlist).matched;
  const isAllowedSkill = autoAllowSkills && isSkill && analysis.understood;
  return {
    matched,
    covered: security !== 'deny' && (security === 'full' || isAllowedSkill || matched),
  };
}

/** The lists of the core are in order, strictest first. */
function strictest<Value extends string>(order: readonly Value[], values: readonly Value[]): Value {
  const [first] = order.filter((one) => values.includes(one));
  if (first === undefined) throw new TypeError('a setting is none of those known');
  return first;
}
