import { v7 as newUuid } from 'uuid';
import { type ExecApprovalsInput, listEntries } from '../../core/exec_approvals_document.ts';
import { OperatorError } from '../../core/operator_error.ts';
import { getExecApprovals } from '../../operations/exec_approvals/get_exec_approvals.ts';
import { putExecApprovals } from '../../operations/exec_approvals/put_exec_approvals.ts';
import type { Database } from '../../storage/database.ts';
import { createLocalExecApprovalsStore } from '../../storage/exec_approvals.ts';
import { readMaskKey } from '../../storage/tenants.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { loadConfig } from '../config.ts';
import { DEFAULT_TENANT } from '../first_keys.ts';
import { readJsonInput } from '../input_file.ts';
import { count } from '../terminal.ts';
import { assertTenant, withDatabase } from '../with_database.ts';
import { readFileForm } from './file_form.ts';
import { fileRefused, toOperatorError } from './refusal.ts';

const USAGE = 'aegis exec-approvals import FILE|- [--replace] [--node ID] [--tenant ID]';
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Who is said to have written what no key did. */
const WRITER = 'aegis-exec-approvals-import';

/** `aegis exec-approvals import`: stores a file of an agent's host as what agents may run. */
export const importExecApprovals: Command = {
  usage: USAGE,
  summary: 'stores what agents may run from the JSON file of their host; `--replace` what is stored already',
  run: async (args, terminal) => {
    const options = {
      replace: { type: 'boolean' },
      node: { type: 'string' },
      tenant: { type: 'string' },
    } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 1, max: 1 });
    const path = positionals[0] ?? '';
    const { document, hasSocket } = await readFile(path);
    const tenantId = values.tenant ?? DEFAULT_TENANT;
    const target = { tenantId, nodeId: values.node ?? null, replace: values.replace === true };
    const stored = await withDatabase(loadConfig(process.env), (database) =>
      store(database, target, document),
    ).catch((error: unknown) => {
      throw toOperatorError(error, path);
    });
    if (hasSocket) {
      terminal.complain('`socket` was left out: it holds a token, and does not say what agents may run');
    }
    const agents = Object.keys(stored.document.agents).length;
    const entries = listEntries(stored.document).length;
    terminal.print(`stored ${count(agents, 'agent')} with ${count(entries, 'entry', 'entries')}`);
    return 0;
  },
};

async function readFile(path: string): Promise<{ document: ExecApprovalsInput; hasSocket: boolean }> {
  const read = readFileForm(await readJsonInput(path, FILE_BYTES_MAX));
  if (read.kind === 'refused') throw fileRefused(path, read.issues);
  return read;
}

interface Target {
  tenantId: string;
  nodeId: string | null;
  replace: boolean;
}

async function store(
  database: Database,
  { tenantId, nodeId, replace }: Target,
  document: ExecApprovalsInput,
) {
  await assertTenant(database, tenantId);
  const deps = { execApprovals: createLocalExecApprovalsStore(database), newUuid };
  const caller = {
    tenantId,
    principal: WRITER,
    keyId: WRITER,
    tenant: { maskKey: await readMaskKey(database, tenantId) },
  };
  const { hash } = await getExecApprovals(deps, caller, nodeId);
  if (hash !== null && !replace) {
    throw new OperatorError(
      'exec approvals are stored already. Give `--replace` to replace them, once `aegis exec-approvals export` has kept them',
    );
  }
  return putExecApprovals(deps, caller, nodeId, { document, baseHash: hash });
}
