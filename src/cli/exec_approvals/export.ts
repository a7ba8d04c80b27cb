import { OperatorError } from '../../core/operator_error.ts';
import { getExecApprovals } from '../../operations/exec_approvals/get_exec_approvals.ts';
import { createLocalExecApprovalsStore } from '../../storage/exec_approvals.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { loadConfig } from '../config.ts';
import { oneLine } from '../config_values.ts';
import { DEFAULT_TENANT } from '../first_keys.ts';
import { toJsonText } from '../terminal.ts';
import { assertTenant, withDatabase } from '../with_database.ts';
import { createFile, replaceFile } from '../write_file.ts';
import { toFileForm } from './file_form.ts';
import { toOperatorError } from './refusal.ts';

const USAGE = 'aegis exec-approvals export [FILE|-] [--force] [--node ID] [--tenant ID]';

/** `aegis exec-approvals export`: writes what agents may run as a file of their host. */
export const exportExecApprovals: Command = {
  usage: USAGE,
  summary:
    'writes what agents may run as the JSON file of their host, to standard output unless a file is named',
  run: async (args, terminal) => {
    const options = {
      force: { type: 'boolean' },
      node: { type: 'string' },
      tenant: { type: 'string' },
    } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 0, max: 1 });
    const [path = '-'] = positionals;
    const text = toJsonText(await readStored(values.tenant ?? DEFAULT_TENANT, values.node ?? null));
    if (path === '-') terminal.print(text);
    else if (values.force === true) await replaceFile(path, `${text}\n`);
    else if (!(await createFile(path, `${text}\n`))) {
      throw new OperatorError(`\`${oneLine(path)}\` is there already. Give \`--force\` to replace it`);
    }
    return 0;
  },
};

async function readStored(tenantId: string, nodeId: string | null) {
  const { document, hash } = await withDatabase(loadConfig(process.env), async (database) => {
    await assertTenant(database, tenantId);
    return getExecApprovals({ execApprovals: createLocalExecApprovalsStore(database) }, { tenantId }, nodeId);
  }).catch((error: unknown) => {
    throw toOperatorError(error, '-');
  });
  // As a file it would read as a document that denies every command, which nothing stored does not.
  if (hash === null) throw new OperatorError('no exec approvals are stored. Store some first');
  return toFileForm(document);
}
