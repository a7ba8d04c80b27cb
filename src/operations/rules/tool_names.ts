import { Fault } from '../../core/fault.ts';
import { normalizeIdentifier } from '../../core/identifiers.ts';

/** A registered operation's names, in normal form. */
export interface ToolName {
  tool: string;
  action: string;
}

/** The names of a path in the form that registry and policy know them by. @throws Fault `tool_invalid`. */
export function parseToolName(rawTool: string, rawAction: string): ToolName {
  const tool = normalizeIdentifier(rawTool);
  const action = normalizeIdentifier(rawAction);
  if (tool.kind === 'normal' && action.kind === 'normal') return { tool: tool.normal, action: action.normal };
  const issues = [
    ...(tool.kind === 'refused' ? [{ pointer: '/tool', reason: tool.reason }] : []),
    ...(action.kind === 'refused' ? [{ pointer: '/action', reason: action.reason }] : []),
  ];
  throw new Fault('tool_invalid', 'the path names no tool and action. Send names without such characters', {
    issues,
  });
}

function toNormal(text: unknown): string {
  const read = typeof text === 'string' ? normalizeIdentifier(text) : undefined;
  return read?.kind === 'normal' ? read.normal : String(text);
}

/** A registration's names in normal form, however it writes them. */
export function nameOf({ tool, action }: { tool?: unknown; action?: unknown }): ToolName {
  return { tool: toNormal(tool), action: toNormal(action) };
}

/** What tells names apart: equal for equal names alone, since no name has a line break. */
export function keyOf({ tool, action }: ToolName): string {
  return `${tool}\n${action}`;
}
