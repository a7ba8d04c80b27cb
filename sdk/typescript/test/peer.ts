import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { computeActionHash } from '../../../src/core/action_hash.ts';
import { canonicalAction } from '../../../src/core/canonical_action.ts';
import { Aegis, type AegisOptions, type ToolCall } from '../src/index.ts';

/**
 * A peer that speaks the wire contract over real HTTP and that a test makes forget, contradict itself or lie. It is
 * not the service: what the two do together is tested against the running service.
 */

export const KEY = 'aeg_0190_secretsecretsecretsecretsecretsecretsecret';
export const APPROVAL_ID = 'apr_01907f1c-0000-7000-8000-000000000001';
const HASH = /^[0-9a-f]{64}$/;

export interface Reply {
  status?: number;
  /** Sent as JSON; a string or bytes are sent as they stand. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The connection is cut after the request was taken. */
  cut?: boolean;
  /** No answer ever comes. */
  hang?: boolean;
}

export interface Received {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
  /** The body as it came. */
  bytes: Buffer;
  /** Requests of the same method and path before this one. */
  before: number;
}

export type Answer = (request: Received, peer: Peer) => Reply | undefined;

export interface Peer {
  /** The tool call of the last authorize. */
  asked: ToolCall;
  received: Received[];
  url: string;
  /** An approval of the contract's shape, approved unless said. */
  approval(changes?: Record<string, unknown>): Record<string, unknown>;
  /** Requests to a path's end. */
  to(end: string): Received[];
  close(): Promise<void>;
}

/** Starts a peer; what `answer` leaves undefined is answered as the service would for an approved action. */
export async function startPeer(answer: Answer = () => undefined): Promise<Peer> {
  const peer: Peer = {
    asked: { tool: '', action: '', resource: null, mutates_state: false, parameters: {} },
    received: [],
    url: '',
    approval: (changes = {}) => ({ ...honestApproval(peer.asked), ...changes }),
    to: (end) => peer.received.filter((request) => request.path.endsWith(end)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://peer');
      const bytes = Buffer.concat(chunks);
      const isJson = request.headers['content-type'] === 'application/json';
      const received: Received = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: isJson ? JSON.parse(bytes.toString()) : {},
        bytes,
        before: peer.received.filter((one) => one.method === request.method && one.path === url.pathname)
          .length,
      };
      peer.received.push(received);
      if (received.path === '/v1/authorize') {
        peer.asked = received.body.tool_call as ToolCall;
      }
      const reply = answer(received, peer) ?? honestReply(received, peer);
      if (reply.cut) {
        request.socket.destroy();
      } else if (!reply.hang) {
        response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
        const isSentAsIs = typeof reply.body === 'string' || Buffer.isBuffer(reply.body);
        response.end(isSentAsIs ? reply.body : JSON.stringify(reply.body ?? {}));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  peer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return peer;
}

/** A client that does not dawdle between attempts. */
export function clientOf(peer: { url: string }, options: Partial<AegisOptions> = {}): Aegis {
  const retry = { max: 3, baseMs: 1, capMs: 5, outageMs: 200, ...options.retry };
  return new Aegis({ baseUrl: peer.url, key: KEY, timeoutMs: 5_000, ...options, retry });
}

export function problem(status: number, code: string, members: Record<string, unknown> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: {
      type: `urn:aegis:problem:${code.replaceAll('_', '-')}`,
      title: code,
      status,
      detail: `detail of ${code}`,
      code,
      request_id: 'req_1',
      ...members,
    },
  };
}

export function authorizeAnswer(peer: Peer, changes: Record<string, unknown> = {}): Record<string, unknown> {
  const action_hash = computeActionHash(peer.asked);
  return {
    decision_id: 'dec_1',
    decision: 'require_approval',
    reason: 'large refunds need a person',
    determining_policies: ['stripe-refund-large-needs-approval'],
    policy_revision: '0'.repeat(64),
    action_hash,
    tool_call: peer.asked,
    resolved: { tool: peer.asked.tool, action: peer.asked.action },
    approval: {
      approval_id: APPROVAL_ID,
      status: 'pending',
      expires_at: '2026-01-01T00:30:00.000Z',
      action_hash,
      version: 1,
    },
    grant_id: null,
    denial: null,
    dry_run: false,
    ...changes,
  };
}

export function consumeAnswer(
  call: ToolCall,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    approval_id: APPROVAL_ID,
    status: 'consumed',
    action_hash: computeActionHash(call),
    tool_call: call,
    consumed_at: '2026-01-01T00:01:00.000Z',
    replayed: false,
    ...changes,
  };
}

/** The members of an approval that stands for an edited action. */
export function edited(call: ToolCall): Record<string, unknown> {
  return {
    edited: true,
    version: 2,
    tool_call: call,
    action_hash: computeActionHash(call),
    canonical_action: canonicalAction(call),
  };
}

function honestApproval(asked: ToolCall): Record<string, unknown> {
  const action_hash = computeActionHash(asked);
  return {
    approval_id: APPROVAL_ID,
    version: 1,
    status: 'approved',
    agent: 'agent-1',
    owner: null,
    context: {},
    original_tool_call: asked,
    original_action_hash: action_hash,
    tool_call: asked,
    action_hash,
    canonical_action: canonicalAction(asked),
    masked: [],
    resolved: { tool: asked.tool, action: asked.action },
    edited: false,
    reason: 'large refunds need a person',
    determining_policies: ['stripe-refund-large-needs-approval'],
    policy_revision: '0'.repeat(64),
    requirements: { votes: 1, groups: [], signature: 'none' },
    scopes: ['once'],
    votes: [],
    recent: [],
    decided_by: null,
    decision_reason: null,
    void_reason: null,
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T00:30:00.000Z',
    decided_at: null,
    consumed_at: null,
    outcome: null,
  };
}

/** What scrubbing answers. */
export function scrubbed(verdict: string, bytes: Buffer): Reply {
  const headers = { 'content-type': 'application/octet-stream', 'aegis-scrub-verdict': verdict };
  return { headers, body: bytes };
}

function honestReply(request: Received, peer: Peer): Reply {
  if (request.path === '/v1/scrub') {
    return scrubbed('clean', request.bytes);
  }
  if (request.path === '/v1/authorize') {
    return { body: authorizeAnswer(peer) };
  }
  if (request.path.endsWith('/consume')) {
    const hash = request.body.action_hash;
    const known = typeof hash === 'string' && HASH.test(hash) && hash === computeActionHash(peer.asked);
    return known ? { body: consumeAnswer(peer.asked) } : problem(409, 'action_hash_mismatch');
  }
  return { body: peer.approval(request.path.endsWith('/outcome') ? { status: 'consumed' } : {}) };
}
