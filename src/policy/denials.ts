import type { Denial } from '../core/policy.ts';

const STOP = 'Do not retry this call, reword it or reach the same effect another way.';

const INSTRUCTIONS: Record<Denial['by'], string> = {
  person: `${STOP} A person has refused it.`,
  ledger: `${STOP} A person has refused it before.`,
  pause: `${STOP} This session is paused until a person resumes it.`,
  unattended: `${STOP} It needs a person's approval and nobody attends this run. Report that and go on without it, or stop.`,
  unroutable: `${STOP} It needs an approval that nobody could give now. Report that.`,
  floor: `${STOP} It is never allowed.`,
  parameters:
    'Do not retry this call unchanged, reword it or reach the same effect another way. Only a call whose parameters fit what the tool declares can be judged.',
};

/** A deny that is more than a policy's no, with the text that the agent's model is given. */
export function createDenial(by: Denial['by'], reason: string): Denial {
  return { by, reason, instruction: INSTRUCTIONS[by] };
}
