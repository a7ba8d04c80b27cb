import type { ReviewLine, ReviewWarning } from '../../core/review.ts';
import type { SlackNotice } from '../../core/slack_ports.ts';
import { fence, line, quote, quoteAll, type RichElement, say, stress } from './elements.ts';

/** As many as are counted. */
const RECENT_MAX = 20;

function askedBy({ agent, owner, places, tool, action }: SlackNotice): RichElement[] {
  const ofOwner = owner === null ? [] : [say(', owned by '), quote(owner)];
  return [
    line(stress('Agent '), quote(agent), ...ofOwner),
    line(stress('Action '), quote(tool), say(' '), quote(action)),
    ...places.map(({ name, value }) => line(say(`${name} `), quote(value))),
  ];
}

function whyAsked({ reason, policies }: SlackNotice): RichElement[] {
  const names = policies.length === 0 ? [] : [line(say('Policies: '), ...quoteAll(policies))];
  return [line(stress('Why policy asks')), fence(reason), ...names];
}

function showWarning({ code, path, text }: ReviewWarning): RichElement[] {
  const at = path === null ? [] : [say(' at '), quote(path)];
  return [line(stress('Warning '), say(code.replaceAll('_', ' ')), ...at), fence(text)];
}

function showLine({ kind, label, text, folded }: ReviewLine, index: number, count: number): RichElement[] {
  const named = label === kind ? [] : [say(' '), quote(label)];
  const whole =
    folded === null
      ? []
      : [say(` (${folded.length} characters in full, of SHA-256 `), quote(folded.sha256), say(')')];
  const place = `${index + 1} of ${count}: `;
  return [line(say(place), stress(kind.replaceAll('_', ' ')), ...named, ...whole), fence(text)];
}

function recentRuns(count: number): RichElement[] {
  const times = count === 1 ? 'once' : `${count >= RECENT_MAX ? `${count} or more` : count} times`;
  return [line(say(`The agent ran the same action ${times} in the 24 hours before`))];
}

function boundBy({ version, actionHash, viewHash }: SlackNotice): RichElement[] {
  return [
    line(say(`Version ${version}, action hash `), quote(actionHash)),
    line(say('View hash '), quote(viewHash)),
  ];
}

/** All that whoever decides has to have seen, in parts that are each shown whole or not at all. */
export function contentOf(notice: SlackNotice): RichElement[][] {
  const { lines, warnings, justification } = notice;
  const words =
    justification === null
      ? []
      : [
          [
            line(stress("The agent's own words"), say(': not checked, and no part of what is approved')),
            fence(justification),
          ],
        ];
  return [
    askedBy(notice),
    whyAsked(notice),
    ...warnings.map(showWarning),
    ...lines.map((one, index) => showLine(one, index, lines.length)),
    ...words,
    ...(notice.recentRuns === 0 ? [] : [recentRuns(notice.recentRuns)]),
    boundBy(notice),
  ];
}
