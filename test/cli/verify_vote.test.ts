import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runGroup } from '../../src/cli/command.ts';
import { VERIFY_VOTE } from '../../src/cli/verify_vote.ts';
import {
  approveSigned,
  askForSignatures,
  askSigned,
  newSigner,
  ORIGIN,
  type Signer,
  WEBAUTHN_ENV,
} from '../contract/webauthn_support.ts';
import { ask } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { type Folder, makeFolder } from './support.ts';

// What a signed vote says is verified with the file alone: the service is closed before anything is verified.

interface Signature {
  statement: string;
  public_key: string;
  [member: string]: string;
}
interface SignedApproval {
  approval_id: string;
  agent: string;
  action_hash: string;
  canonical_action: string;
  context: Record<string, unknown>;
  votes: { approver: string; decision: string; scope: string; signature: Signature }[];
}

let folder: Folder;
let signed: SignedApproval;
let unsigned: object;
let signer: Signer;

beforeAll(async () => {
  folder = makeFolder();
  const service = await startTestService({ env: WEBAUTHN_ENV });
  await askForSignatures(service.operator, '@votes("2")');
  signer = await newSigner(service);
  const second = await newSigner(service);
  const id = await askSigned(service);
  await approveSigned(signer, id);
  await approveSigned(second, id);
  signed = (await service.approver.get(`/v1/approvals/${id}`)).body;
  unsigned = (await service.approver.get(`/v1/approvals/${await ask(service.agent)}`)).body;
  await service.close();
});
afterAll(() => folder.remove());

async function verify(json: unknown, ...options: string[]) {
  const ended = { code: -1, out: '', err: '' };
  const file = folder.write('vote.json', typeof json === 'string' ? json : JSON.stringify(json));
  ended.code = await runGroup(VERIFY_VOTE, ['verify-vote', file, ...options], {
    print: (text) => {
      ended.out += `${text}\n`;
    },
    complain: (text) => {
      ended.err += `${text}\n`;
    },
    paint: (_, text) => text,
  });
  return ended;
}

function firstVote() {
  const [vote] = signed.votes;
  if (vote === undefined) throw new Error('the approval has no vote');
  return vote;
}

function keyHash(): string {
  return createHash('sha256')
    .update(Buffer.from(firstVote().signature.public_key, 'base64url'))
    .digest('hex');
}

describe('a signed vote verifies without the service', () => {
  test('as an approval with all its votes', async () => {
    const ended = await verify(signed);
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out.match(/^verified$/gm)).toHaveLength(2);
    for (const fact of [signed.approval_id, signed.action_hash, signer.principal, ORIGIN, keyHash()]) {
      expect(ended.out).toContain(fact);
    }
  });

  test('as a vote, and as a signature', async () => {
    expect((await verify(firstVote())).code).toBe(0);
    expect((await verify(firstVote().signature)).code).toBe(0);
  });

  test('as json', async () => {
    const ended = await verify(firstVote(), '--json');
    expect(JSON.parse(ended.out)).toMatchObject([
      {
        verified: true,
        reason: null,
        statement: { approver: signer.principal, decision: 'approve', approval_id: signed.approval_id },
        public_key_sha256: keyHash(),
      },
    ]);
  });

  test('with the key and the origin that one expects, and with no others', async () => {
    expect((await verify(firstVote(), '--key', keyHash(), '--origin', ORIGIN)).code).toBe(0);
    expect(await verify(firstVote(), '--key', 'f'.repeat(64))).toMatchObject({ code: 1 });
    expect(await verify(firstVote(), '--origin', 'https://localhost:8080')).toMatchObject({ code: 1 });
  });
});

describe('a signed vote does not verify when one byte is another', () => {
  const flip = (text: string): string => {
    const bytes = Buffer.from(text, 'base64url');
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    return bytes.toString('base64url');
  };

  test.each(['client_data_json', 'authenticator_data', 'signature', 'public_key'])(
    'in %s',
    async (member) => {
      const { signature } = firstVote();
      const ended = await verify({ ...signature, [member]: flip(signature[member] ?? '') });
      expect(ended).toMatchObject({ code: 1, out: expect.stringContaining('NOT verified') });
    },
  );

  test('at any place of the statement', async () => {
    const { signature } = firstVote();
    const { statement } = signature;
    for (let at = 0; at < statement.length; at += 7) {
      const other = String.fromCharCode(statement.charCodeAt(at) ^ 1);
      const changed = statement.slice(0, at) + other + statement.slice(at + 1);
      expect((await verify({ ...signature, statement: changed })).code, `at ${at}`).toBe(1);
    }
  });

  test.each(['rp_id', 'origin'])('in %s', async (member) => {
    const { signature } = firstVote();
    expect((await verify({ ...signature, [member]: `${signature[member]}x` })).code).toBe(1);
  });
});

describe('a record that says something else than what was signed does not verify', () => {
  test.each([{ approver: 'somebody' }, { decision: 'reject' }, { scope: 'session' }])(
    'of the vote: %j',
    async (change) => {
      const ended = await verify({ ...firstVote(), ...change });
      expect(ended).toMatchObject({ code: 1, out: expect.stringContaining(Object.keys(change)[0] ?? '') });
    },
  );

  test.each([
    { approval_id: 'apr_01890a5d-ac96-774b-bcce-b302099a8057' },
    { agent: 'agent-2' },
    { action_hash: 'f'.repeat(64) },
    { canonical_action: '{}' },
    { context: { workspace: 'repo:other', environment: null, session_id: 's-1' } },
  ])('of the approval: %j', async (change) => {
    expect((await verify({ ...signed, ...change })).code).toBe(1);
  });
});

describe('what is no signed vote', () => {
  test('is code 2 beside votes that verify, when its signature cannot be read', async () => {
    const [first, second] = signed.votes;
    for (const signature of [{}, { ...second?.signature, signature: 1 }, 'none']) {
      const ended = await verify({ ...signed, votes: [first, { ...second, signature }] });
      expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringContaining('cannot be read') });
    }
  });

  test('is passed over beside votes that verify, when it is unsigned', async () => {
    const [first, second] = signed.votes;
    const { signature: _, ...bare } = second ?? { signature: undefined };
    expect(await verify({ ...signed, votes: [first, bare] })).toMatchObject({ code: 0 });
  });

  test('is code 2, whatever it is', async () => {
    for (const json of [unsigned, {}, [], 'null', '{', { votes: [{}] }, { signature: {} }]) {
      const ended = await verify(json);
      expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/./) });
    }
    expect((await runGroup(VERIFY_VOTE, ['verify-vote', 'no/such/file'], silent)).valueOf()).toBe(2);
  });
});

const silent = {
  print: () => undefined,
  complain: () => undefined,
  paint: (_: string, text: string) => text,
};
