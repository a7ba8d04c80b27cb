import type { ApiClient } from '../../support/api_client.ts';
import { ask, authorize, makeKey } from '../../support/calls.ts';
import { command } from '../../support/commands.ts';
import { putTool, RELEASE, release } from '../../support/rules.ts';

/** A service with its first keys, on a new database. */
export interface ExamplePlace {
  approver: ApiClient;
  approver2: ApiClient;
  operator: ApiClient;
  as(token: string): ApiClient;
  /** Sets when an approval expires, from now. */
  expireIn(approvalId: string, seconds: number): Promise<void>;
}

/** The approvals of the example by what they show. */
export interface Example {
  command: string;
  download: string;
  edited: string;
  halfVoted: string;
  destructive: string;
  widened: string;
  decided: string;
}

const AGENTS = ['support-bot', 'build-bot', 'release-bot', 'data-janitor'] as const;
type AgentName = (typeof AGENTS)[number];

const PRODUCTION = { workspace: 'repo:acme/shop', environment: 'production' };

function refundOf(charge: string, amount: number, memo: string) {
  return {
    ...{ tool: 'stripe', action: 'refund', resource: charge, mutates_state: true },
    parameters: { amount, currency: 'usd', memo },
  };
}

async function makeAgents({ operator, as }: ExamplePlace): Promise<Record<AgentName, ApiClient>> {
  const made = await Promise.all(
    AGENTS.map(async (principal) => {
      const { token } = await makeKey(operator, { principal, roles: ['agent'] });
      return [principal, as(token)] as const;
    }),
  );
  return Object.fromEntries(made) as Record<AgentName, ApiClient>;
}

/** @throws Error when a call is not answered with a status of success. */
async function must(answer: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
}

async function askForEdited(place: ExamplePlace, agent: ApiClient): Promise<string> {
  const call = refundOf('ch_3Q8xKd2eZvKYlo2C', 24_900, 'order 4117, two lamps arrived broken');
  const id = await ask(agent, call, {
    ...{ ...PRODUCTION, session_id: 'ticket-4117' },
    justification: 'The customer sent photos of two broken lamps and asks for the full price.',
  });
  const parameters = { ...call.parameters, amount: 12_450, memo: 'order 4117, one lamp arrived broken' };
  await must(
    place.approver2.post(`/v1/approvals/${id}/edit`, {
      tool_call: { ...call, parameters },
      reason: 'the photos show one broken lamp',
    }),
  );
  return id;
}

async function makeHistory(
  { approver, approver2 }: ExamplePlace,
  agents: Record<AgentName, ApiClient>,
): Promise<string> {
  const outcomes = [
    { outcome: 'executed' },
    { outcome: 'failed', detail: 'the charge was refunded before' },
    null,
  ];
  for (const [index, outcome] of outcomes.entries()) {
    const id = await ask(
      agents['support-bot'],
      refundOf(`ch_example_${index}`, 7_000 + index, 'late parcel'),
    );
    await must(approver.post(`/v1/approvals/${id}/approve`, { reason: 'as agreed with the customer' }));
    await must(agents['support-bot'].post(`/v1/approvals/${id}/consume`));
    if (outcome !== null) await must(agents['support-bot'].post(`/v1/approvals/${id}/outcome`, outcome));
  }
  const rejected = await ask(agents['build-bot'], command('git push --force origin main'), PRODUCTION);
  await must(
    approver2.post(`/v1/approvals/${rejected}/reject`, { reason: 'never to main, open a pull request' }),
  );
  return rejected;
}

/** Three rejections pause a session. */
async function pauseSession({ approver }: ExamplePlace, agent: ApiClient): Promise<void> {
  for (const table of ['carts_2021', 'carts_2022', 'carts_2023']) {
    const call = {
      tool: 'database',
      action: 'drop_table',
      resource: table,
      mutates_state: true,
      parameters: {},
    };
    const { body } = await authorize(agent, call, { context: { session_id: 'spring-cleaning' } });
    await must(
      approver.post(`/v1/approvals/${body.approval.approval_id}/reject`, { reason: 'still in use' }),
    );
  }
}

/** Fills a new service with what a busy day might leave in it. */
export async function fillWithExamples(place: ExamplePlace): Promise<Example> {
  const { operator, approver, approver2 } = place;
  await putTool(operator, 'deploy', 'release', { ...RELEASE, permission: 'ask' });
  await putTool(operator, 'database', 'drop_table', {
    ...{ mutates_state: true, destructive: true, permission: 'ask' },
  });
  const agents = await makeAgents(place);
  const decided = await makeHistory(place, agents);
  await pauseSession(place, agents['data-janitor']);
  const granted = await ask(agents['release-bot'], release('search'), {
    ...PRODUCTION,
    session_id: 'train-41',
  });
  await must(
    approver.post(`/v1/approvals/${granted}/approve`, { scope: 'window', window_seconds: 3600, max_uses: 5 }),
  );
  const building = { ...PRODUCTION, environment: 'ci', session_id: 'nightly-build' };
  const example: Example = {
    command: await ask(
      agents['build-bot'],
      command('npm ci && npm run build && rm -rf node_modules/.cache "$HOME/.npm/_logs"', null, {
        cwd: '/srv/build/shop',
      }),
      { ...building, justification: 'The cache of the last build is broken: it has to go first.' },
    ),
    download: await ask(
      agents['build-bot'],
      command('curl -fsSL https://downloads.example.com/tool.tgz | tar -xz -C "$HOME/bin"'),
      building,
    ),
    edited: await askForEdited(place, agents['support-bot']),
    halfVoted: await ask(
      agents['support-bot'],
      refundOf('ch_3Q7bTn2eZvKYlo2C', 184_000, 'order 3988, the whole delivery was lost'),
      { ...PRODUCTION, session_id: 'ticket-3988' },
    ),
    destructive: await ask(
      agents['data-janitor'],
      {
        tool: 'database',
        action: 'drop_table',
        resource: 'sessions_2019',
        mutates_state: true,
        parameters: {},
      },
      { ...PRODUCTION, session_id: 'old-tables' },
    ),
    widened: await ask(agents['release-bot'], release('checkout'), { ...PRODUCTION, session_id: 'train-42' }),
    decided,
  };
  await must(
    approver2.post(`/v1/approvals/${example.halfVoted}/approve`, { reason: 'carrier confirmed the loss' }),
  );
  await place.expireIn(example.download, 55);
  return example;
}
