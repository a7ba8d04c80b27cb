import type { Approval } from '../../../core/approval.ts';
import type { Caller } from '../../../core/caller.ts';
import { Prose } from '../../prose.tsx';
import { describeMissing } from './people.tsx';

interface Became {
  title: string;
  text: string;
}

function ofVote(approval: Approval, caller: Caller): Became | null {
  const vote = approval.votes.findLast(({ approver }) => approver === caller.principal);
  if (vote === undefined) return null;
  if (vote.decision === 'reject') {
    return { title: 'You rejected it', text: 'the agent is told so, with your words' };
  }
  const missing = describeMissing(approval);
  if (approval.status === 'pending' && missing !== null) {
    return { title: 'Your vote is on it', text: `it is not approved yet: still wanted is ${missing}` };
  }
  if (approval.status === 'approved') {
    return { title: 'Approved, with your vote', text: 'the agent may use it until it expires' };
  }
  return { title: 'Your vote was on it', text: `what became of it stands below` };
}

/**
 * What became of a form that was just sent, told by how the approval stands and by nothing in the address: no link can
 * make a decision look as if it had happened.
 */
export function findWhatBecame(approval: Approval, caller: Caller): Became {
  const { status, decidedBy, version } = approval;
  if (status === 'cancelled') {
    const by = decidedBy === caller.principal ? 'you' : (decidedBy ?? 'the agent');
    return { title: 'It is taken back', text: `by ${by}` };
  }
  const lastEdit = approval.edits.at(-1);
  if (lastEdit?.editor === caller.principal && status === 'pending') {
    return {
      title: 'Your edit is saved',
      text: `this is version ${version}. Earlier votes do not count for it, and others decide it`,
    };
  }
  return ofVote(approval, caller) ?? { title: 'You have not decided it', text: 'no vote of yours is on it' };
}

export function WhatBecame({ approval, caller }: { approval: Approval; caller: Caller }) {
  const { title, text } = findWhatBecame(approval, caller);
  return (
    <section class="success" role="status" id="became" tabindex={-1}>
      <h2>{title}</h2>
      <p>
        <Prose text={text} />
      </p>
      <p>
        <a class="button" href="/console">
          Back to the queue
        </a>
      </p>
    </section>
  );
}
