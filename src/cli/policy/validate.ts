import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { count, toJsonText, visible } from '../terminal.ts';
import { findPolicyDirectory, openFolder } from './folder.ts';

const USAGE = 'aegis policy validate [DIR] [--json]';

/** `aegis policy validate`: whether a policy folder loads, with everything that is wrong with it. */
export const validate: Command = {
  usage: USAGE,
  summary: 'checks policies and tools; 1 when something is wrong with them',
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, { json: { type: 'boolean' } }, USAGE, {
      min: 0,
      max: 1,
    });
    const directory = findPolicyDirectory(positionals[0]);
    const { set, base } = await openFolder(directory);
    const tools = new Set(base.tools.map(({ tool }) => tool)).size;
    const counts = { policies: Object.keys(base.policies).length, tools, operations: base.tools.length };
    if (values.json === true) {
      terminal.print(toJsonText({ valid: true, directory, revision: set.revision, ...counts, problems: [] }));
    } else {
      const what = [
        count(counts.policies, 'policy', 'policies'),
        `${count(counts.operations, 'operation')} of ${count(counts.tools, 'tool')}`,
      ].join(', ');
      terminal.print(`${terminal.paint('green', 'valid')}: ${visible(directory)} has ${what}`);
      terminal.print(`revision ${set.revision}`);
    }
    return 0;
  },
};
