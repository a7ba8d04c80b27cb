import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runGroup } from '../../src/cli/command.ts';
import { EXEC_APPROVALS_COMMANDS } from '../../src/cli/exec_approvals/commands.ts';
import { POLICY_COMMANDS } from '../../src/cli/policy/commands.ts';
import { TOOLS_COMMANDS } from '../../src/cli/tools/commands.ts';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const GROUPS = {
  'exec-approvals': EXEC_APPROVALS_COMMANDS,
  policy: POLICY_COMMANDS,
  tools: TOOLS_COMMANDS,
} as const;

/** Runs `aegis policy …` or another group's command in this process. */
export async function aegis(...[group, ...args]: [group: keyof typeof GROUPS, ...string[]]): Promise<Ended> {
  const ended: Ended = { code: -1, stdout: '', stderr: '' };
  const terminal = {
    print: (text: string) => {
      ended.stdout += `${text}\n`;
    },
    complain: (text: string) => {
      ended.stderr += `${text}\n`;
    },
    paint: (_: string, text: string) => text,
  };
  ended.code = await runGroup(GROUPS[group], args, terminal);
  return ended;
}

export interface Folder {
  path: string;
  write(file: string, text: string | Uint8Array): string;
  remove(): void;
}

/** A new folder with files in it. */
export function makeFolder(files: Record<string, string | Uint8Array> = {}): Folder {
  const path = mkdtempSync(join(tmpdir(), 'aegis-cli-'));
  const write = (file: string, text: string | Uint8Array): string => {
    const whole = join(path, file);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    return whole;
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  return { path, write, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export const TOOL = JSON.stringify({
  tool: 'shop',
  operations: {
    order: {
      mutates_state: true,
      parameters_schema: {
        type: 'object',
        properties: { amount: { type: 'integer' } },
        required: ['amount'],
      },
    },
    look: { mutates_state: false, idempotent: true },
  },
});

const SCOPE = 'principal is Aegis::Agent, action == Aegis::Action::"shop.order", resource';

export const ALLOW = `@id("small-order-allowed")
@reason("small orders are allowed")
permit (${SCOPE})
when { context.parameters.amount <= 100 };
`;

export const ASK = `@id("large-order-asks")
@decision("require_approval")
@votes("2")
@groups("finance")
@ttl_seconds("600")
@reason("large orders need approval")
permit (${SCOPE})
when { context.parameters.amount > 100 };
`;

export const FORBID = `@id("huge-order-forbidden")
@reason("nobody orders that much")
forbid (${SCOPE})
when { context.parameters.amount > 10000 };
`;

const order = (amount: number) => ({
  tool: 'shop',
  action: 'order',
  mutates_state: true,
  parameters: { amount },
});

const asked = { votes: 2, groups: ['finance'], signature: 'none' };

/** Cases that pass, with a twin for each of the three policies. */
export const CASES = [
  {
    name: 'a small order',
    tool_call: order(100),
    decision: 'allow',
    determining_policies: ['small-order-allowed'],
    twin_of: 'large-order-asks',
  },
  {
    name: 'a large order',
    tool_call: order(101),
    decision: 'require_approval',
    determining_policies: ['large-order-asks'],
    requirements: asked,
    twin_of: 'small-order-allowed',
  },
  {
    name: 'a huge order',
    tool_call: order(10001),
    decision: 'deny',
    determining_policies: ['huge-order-forbidden'],
  },
  {
    name: 'not quite a huge order',
    tool_call: order(10000),
    decision: 'require_approval',
    determining_policies: ['large-order-asks'],
    requirements: asked,
    twin_of: 'huge-order-forbidden',
  },
];

/** A folder of three policies on one tool, with their cases. */
export function makeShop(): Folder {
  return makeFolder({
    'shop.cedar': `${ALLOW}\n${ASK}`,
    'zz.cedar': FORBID,
    'tools/shop.json': TOOL,
    'cases/shop.json': JSON.stringify({ cases: CASES }),
  });
}
