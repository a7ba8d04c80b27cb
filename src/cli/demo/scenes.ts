import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Aegis, type PendingApproval, PendingError } from '../../../sdk/typescript/src/index.ts';
import { computeActionHash } from '../../core/action_hash.ts';
import { type Cast, CONTEXT, codeOf, consumeRaw, describe, guardRefunds, type Refund } from './cast.ts';

/** Longest wait for an approval to expire. */
const EXPIRY_WAIT_MS = 5_000;

/** A refund is approved; then another is to run in its place. */
export async function approveThenSwap({ stage, place, agent, approver }: Cast): Promise<void> {
  stage.scene('Approve, then swap');
  const { refund, paid } = guardRefunds(agent);
  const parameters: Refund = { amount: 9_000, currency: 'usd' };
  let swapped = { status: 0, said: '' };
  stage.say('agent', 'asks to refund 90.00 usd');
  await refund(parameters, {
    onPending: async ({ approval_id: id }) => {
      const { action_hash, canonical_action, tool_call } = await approver.getApproval(id);
      stage.say('approver', `reads ${canonical_action}`);
      await approver.approve(id, { action_hash, reason: 'matches the ticket' });
      stage.say('approver', `approves exactly that, ${action_hash.slice(0, 12)}…`);
      const other = { ...tool_call, parameters: { amount: 900_000, currency: 'usd' } };
      stage.say('attacker', 'has the agent key, and consumes the approval for 9,000.00 usd instead');
      swapped = await consumeRaw(place, id, { action_hash: computeActionHash(other) });
      stage.say('service', describe(swapped));
      stage.say('attacker', 'changes the arguments in the memory of the agent to 9,000.00 usd');
      parameters.amount = 900_000;
    },
  });
  const isRefused = swapped.status === 409 && swapped.said === 'action_hash_mismatch';
  stage.claim('the swapped action is refused, and spends nothing', isRefused, describe(swapped));
  stage.claim('what was approved is what ran: 90.00 usd, once', paid.join() === '9000', `${paid.join()} ran`);
}

/** An approval that was used is used again. */
export async function replay({ stage, place, agent, approver }: Cast): Promise<void> {
  stage.scene('Replay');
  const { refund, paid } = guardRefunds(agent);
  let used: PendingApproval | undefined;
  stage.say('agent', 'asks to refund 80.00 usd');
  await refund(
    { amount: 8_000, currency: 'usd' },
    {
      onPending: async (pending) => {
        used = pending;
        await approver.approve(pending.approval_id);
        stage.say('approver', 'approves');
      },
    },
  );
  stage.say('agent', 'has run the refund');
  stage.say('attacker', 'sends the recorded consume again, 20 times at once');
  const { approval_id: id = '', original_action_hash: hash } = used ?? {};
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      consumeRaw(place, id, { action_hash: hash, consumer_token: randomUUID() }),
    ),
  );
  const [first = { status: 0, said: '' }] = answers;
  stage.say('service', `${describe(first)}, to each`);
  const areRefused = answers.every(
    ({ status, said }) => status === 409 && said === 'approval_already_consumed',
  );
  stage.claim(
    'all 20 are refused: an approval is good for one run',
    areRefused,
    answers.map(describe).join(),
  );
  stage.claim('the refund ran once', paid.length === 1, `it ran ${paid.length} times`);
}

/** An approved action is taken up too late. */
export async function expiry({ stage, place, agent, approver }: Cast): Promise<void> {
  stage.scene('Expiry');
  let writes = 0;
  const write = agent.protect(
    { tool: 'files', action: 'write', mutatesState: true, context: CONTEXT },
    (_: { path: string; content: string }) => {
      writes += 1;
    },
  );
  stage.say('agent', 'asks to write `report.txt`, and does not wait for the answer');
  const pending = await write({ path: 'report.txt', content: 'done' }, { waitMs: 0 }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(pending instanceof PendingError)) throw pending;
  const { approval_id: id } = pending.toJSON();
  const { expires_at: expiresAt } = await approver.approve(id);
  stage.say('approver', `approves; it is good until ${expiresAt}`);
  const waitMs = Date.parse(expiresAt) - Date.now() + 50;
  if (waitMs > EXPIRY_WAIT_MS) {
    stage.note('approvals of this service live longer than the demo: not waited for');
    return;
  }
  await sleep(waitMs);
  stage.say('agent', 'comes back too late');
  const code = await codeOf(write.resume(pending));
  stage.claim('the sdk tells the agent: expired', code === 'expired', code);
  stage.say('attacker', 'consumes it all the same');
  const late = await consumeRaw(place, id, {});
  stage.say('service', describe(late));
  stage.claim('a late consume is refused', late.status === 410, describe(late));
  stage.claim('nothing was written', writes === 0, `${writes} files were`);
}

/** The person changes the action before it runs. */
export async function editThenRun({ stage, agent, approver, approver2 }: Cast): Promise<void> {
  stage.scene('Edit, then run');
  const { refund, paid } = guardRefunds(agent);
  let own = '';
  stage.say('agent', 'asks to refund 70.00 usd');
  await refund(
    { amount: 7_000, currency: 'usd' },
    {
      onPending: async ({ approval_id: id }) => {
        const { tool_call } = await approver.getApproval(id);
        const edited = await approver.edit(id, {
          tool_call: { ...tool_call, parameters: { amount: 4_000, currency: 'usd' } },
          reason: 'one of the two articles was kept',
        });
        stage.say('approver', 'edits it to 40.00 usd, and approves that too');
        own = await codeOf(approver.approve(id, { action_hash: edited.action_hash }));
        stage.say('service', `403 ${own}: who edits does not approve`);
        await approver2.approve(id, { action_hash: edited.action_hash });
        stage.say('approver', 'a second one reads the edited action and approves it');
      },
    },
  );
  stage.claim('the editor alone could not let it through', own === 'self_approval_forbidden', own);
  stage.claim('the edited parameters ran: 40.00 usd, once', paid.join() === '4000', `${paid.join()} ran`);
}

/** The answer to a consume is lost on the way. */
export async function lostAnswer({ stage, place, approver }: Cast): Promise<void> {
  stage.scene('Lost answer');
  const answers: string[] = [];
  const agent = new Aegis({
    baseUrl: place.url,
    key: place.agentKey,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (!url.endsWith('/consume')) return response;
      const { replayed } = (await response.clone().json()) as { replayed: boolean };
      answers.push(`replayed: ${replayed}`);
      if (answers.length > 1) return response;
      stage.say('network', 'the service has consumed the approval, and its answer is lost');
      throw new TypeError('connection reset');
    },
  });
  const { refund, paid } = guardRefunds(agent);
  let approvalId = '';
  stage.say('agent', 'asks to refund 60.00 usd');
  await refund(
    { amount: 6_000, currency: 'usd' },
    {
      onPending: async ({ approval_id: id }) => {
        approvalId = id;
        await approver.approve(id);
        stage.say('approver', 'approves');
      },
    },
  );
  stage.say('agent', 'asks again with the same token, and gets the same answer');
  stage.say('service', `200 ${answers.at(-1)}`);
  await agent.flush();
  const { outcome } = await approver.getApproval(approvalId);
  stage.claim(
    'the repeat with its own token is answered, as a replay',
    answers.join() === 'replayed: false,replayed: true',
    answers.join(),
  );
  stage.claim('the refund ran once', paid.length === 1, `it ran ${paid.length} times`);
  stage.claim('its outcome is on record', outcome?.outcome === 'executed', String(outcome?.outcome));
}

/** In the order in which they are played. */
export const SCENES = [approveThenSwap, replay, expiry, editThenRun, lostAnswer];
