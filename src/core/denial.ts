import type { Denial } from './policy.ts';

const STOP = 'Do not retry this call, reword it or reach the same effect another way.';

const INSTRUCTIONS: Record<Denial['by'], string> = {
  person: `${STOP} A person has refused it.`,
  ledger: `${STOP} A person has refused it before.`,
  pause: `${STOP} This agent is paused until a person resumes it: nothing that needs an approval is put to anyone.`,
  unattended: `${STOP} It needs a person's approval and nobody attends this run. Report that and go on without it, or stop.`,
  unroutable: `${STOP} It needs an approval that nobody could give now. Report that.`,
  floor: `${STOP} It is never allowed.`,
  parameters:
    'Do not retry this call unchanged, reword it or reach the same effect another way. Only a call whose parameters fit what the tool declares can be judged.',
};

/** Characters that would hide, or end the line. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]+/gu;
/** Whatever a reader might take for the end of a text in double quotes. */
const QUOTE = /["\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u301d\u301e\u301f\uff02\u2e42`]/gu;

/**
 * A deny that is more than a policy's no, with the text that the agent's model is given. `words` are those of the
 * person who refused; they stand quoted at its end, without anything that could end the quotation or the line.
 */
export function createDenial(by: Denial['by'], reason: string, words: string | null = null): Denial {
  const said = words?.replace(INVISIBLE, ' ').replace(QUOTE, "'").trim() ?? '';
  const quoted = said === '' ? '' : ` The person's own words: "${said}"`;
  return { by, reason, instruction: `${INSTRUCTIONS[by]}${quoted}` };
}
