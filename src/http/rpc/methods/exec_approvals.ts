import * as z from 'zod';
import { getExecApprovals } from '../../../operations/exec_approvals/get_exec_approvals.ts';
import { putExecApprovals } from '../../../operations/exec_approvals/put_exec_approvals.ts';
import { listPendingCommands } from '../../../operations/rpc/list_pending_commands.ts';
import { putExecApprovalsBody, toWireExecApprovals } from '../../schemas/exec_approvals.ts';
import { toPendingCommand } from '../command_view.ts';
import { type AnyRpcMethod, defineMethod, type RpcCall } from '../method.ts';

const nothing = z.strictObject({});
const node = { node_id: z.string() };

const nodeParams = z.strictObject(node);
const nodeSetParams = z.strictObject({ ...node, ...putExecApprovalsBody.shape });

export const pendingMethod = defineMethod({
  name: 'exec.approvals.pending',
  summary: 'Every command that waits for a person',
  roles: ['approver', 'operator', 'auditor'],
  params: nothing,
  run: async ({ deps, caller }: RpcCall<object>) => {
    const pending = await listPendingCommands(deps, caller);
    return { pending: pending.map((approval) => toPendingCommand(approval, caller)) };
  },
});

/** Exec approvals as data: of the tenant, and of a node, which is a workspace. */
export const execApprovalsMethods: readonly AnyRpcMethod[] = [
  defineMethod({
    name: 'exec.approvals.get',
    summary: 'Read exec approvals',
    roles: ['operator'],
    params: nothing,
    run: async ({ deps, caller }: RpcCall<object>) =>
      toWireExecApprovals(await getExecApprovals(deps, caller, null)),
  }),
  defineMethod({
    name: 'exec.approvals.set',
    summary: 'Replace exec approvals',
    roles: ['operator'],
    params: putExecApprovalsBody,
    run: async ({ deps, caller, params }: RpcCall<z.output<typeof putExecApprovalsBody>>) => {
      const { document, base_hash: baseHash } = params;
      return toWireExecApprovals(await putExecApprovals(deps, caller, null, { document, baseHash }));
    },
  }),
  defineMethod({
    name: 'exec.approvals.node.get',
    summary: 'Read exec approvals of a node',
    roles: ['operator'],
    params: nodeParams,
    run: async ({ deps, caller, params }: RpcCall<z.output<typeof nodeParams>>) =>
      toWireExecApprovals(await getExecApprovals(deps, caller, params.node_id)),
  }),
  defineMethod({
    name: 'exec.approvals.node.set',
    summary: 'Replace exec approvals of a node',
    roles: ['operator'],
    params: nodeSetParams,
    run: async ({ deps, caller, params }: RpcCall<z.output<typeof nodeSetParams>>) => {
      const { node_id: nodeId, document, base_hash: baseHash } = params;
      return toWireExecApprovals(await putExecApprovals(deps, caller, nodeId, { document, baseHash }));
    },
  }),
];
