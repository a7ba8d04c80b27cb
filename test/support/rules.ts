import type { ApiAnswer, ApiClient } from './api_client.ts';

/** Replaces the tenant's own policies. */
export async function putPolicies(operator: ApiClient, text: string): Promise<ApiAnswer> {
  const answer = await operator.call('PUT', '/v1/policies', { text });
  if (answer.status !== 200) throw new Error(`no policies: ${answer.text}`);
  return answer;
}

/** Registers an operation of the tenant's own. */
export async function putTool(
  operator: ApiClient,
  tool: string,
  action: string,
  registration: object,
): Promise<ApiAnswer> {
  const answer = await operator.call('PUT', `/v1/tools/${tool}/${action}`, registration);
  if (answer.status !== 200) throw new Error(`no tool: ${answer.text}`);
  return answer;
}

/** A mutating operation with one text to tell calls apart by, and a secret. */
export const RELEASE = {
  mutates_state: true,
  secret_parameters: ['token'],
  parameters_schema: {
    type: 'object',
    properties: { service: { type: 'string' }, token: { type: 'string' } },
    required: ['service'],
  },
};

/** An ask of `deploy`/`release`, with further annotations. */
export function releaseAsk(annotations: string, id = 'deploy-release-asks'): string {
  return `@id("${id}")
@decision("require_approval")
${annotations}
permit (
  principal is Aegis::Agent,
  action == Aegis::Action::"deploy.release",
  resource
);
`;
}

/** A call of `deploy`/`release`. */
export function release(service: string, parameters: object = {}) {
  return {
    tool: 'deploy',
    action: 'release',
    resource: null,
    mutates_state: true,
    parameters: { service, ...parameters },
  };
}
