import { normalizeIdentifier } from '../../core/identifiers.ts';
import type { ImportedOperation } from '../../policy/mcp_manifest.ts';
import { computeActionId } from '../../policy/operation.ts';
import { count, table, visible } from '../terminal.ts';

/** What was imported, and where to. */
export interface Import {
  tool: string;
  out: string;
  operations: ImportedOperation[];
  /** Whether the server has more tools than the manifest. */
  goesOn: boolean;
}

/** A table of the operations with their facts and notes, and what to do next. */
export function formatImport({ tool, out, operations, goesOn }: Import): string[] {
  const rows = operations.map(({ action, members, notes }) => [
    visible(action),
    factsOf(members).join(', '),
    visible(notes.join('; ')),
  ]);
  const [first] = operations;
  const example = first === undefined ? '' : toActionId(tool, first.action);
  const isWritten = out !== '-';
  return [
    table([['operation', 'facts', 'notes'], ...rows]),
    ...(goesOn
      ? ['the server has more tools than these: the manifest is one page (`nextCursor`). Import all of them']
      : []),
    `${count(operations.length, 'operation')} of \`${visible(tool)}\`${isWritten ? `, in ${visible(out)}` : ''}`,
    'The facts are the hints of the server. Read them before you rely on them.',
    `Nothing is permitted by this: write policies for Aegis::Action::${visible(JSON.stringify(example))} and the others, then run \`aegis policy validate\` and \`aegis policy test\`.`,
  ];
}

/** The same as `--json` answers it. */
export function importToJson({ tool, out, operations, goesOn }: Import) {
  return {
    tool,
    file: out,
    operations: operations.map(({ action, members, notes }) => ({
      action,
      cedar_action: toActionId(tool, action),
      mutates_state: members.mutates_state,
      idempotent: members.idempotent,
      destructive: members.destructive,
      command_parameter: members.command_parameter ?? null,
      notes,
    })),
    has_more: goesOn,
  };
}

function factsOf(members: ImportedOperation['members']): string[] {
  return [
    members.mutates_state === true ? 'mutates' : 'reads',
    ...(members.destructive === true ? ['destructive'] : []),
    ...(members.idempotent === true ? ['idempotent'] : []),
  ];
}

function toActionId(tool: string, action: string): string {
  const names = [normalizeIdentifier(tool), normalizeIdentifier(action)];
  const [toolName, actionName] = names.map((name) => (name.kind === 'normal' ? name.normal : ''));
  return computeActionId(toolName ?? '', actionName ?? '');
}
