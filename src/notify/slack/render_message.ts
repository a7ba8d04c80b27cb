import { sha256Hex } from '../../core/digest.ts';
import { SLACK_ACTIONS, writeSlackButton } from '../../core/slack_button.ts';
import type { SlackMessage, SlackNotice } from '../../core/slack_ports.ts';
import { contentOf } from './content.ts';
import { block, line, link, type RichBlock, type RichElement, say, stress, weigh } from './elements.ts';
import { stateLines, titleOf, wordsOfPeople } from './state_lines.ts';

/** Slack's limits: blocks of a message, and characters of one text. */
const BLOCKS_MAX = 50;
const TEXT_MAX = 3_000;
/**
 * Characters of all blocks together, as JSON. Slack says no number; it was seen to refuse messages from some 13,200 on
 * (`msg_blocks_too_long`, slackapi/bolt-js#2509).
 */
const MESSAGE_MAX = 12_000;
/** Blocks that stand around the content: header, state, note, buttons. */
const FRAME_BLOCKS = 4;
/** Room for the note on what is missing, which is written once that is known. */
const NOTE_WEIGHT = 1_500;

/** What stands in a notification must not be read as a link or a mention. */
const UNMISTAKABLE = /^[A-Za-z0-9_-]{1,64}$/;

export interface RenderOptions {
  /** The service's own address, without a trailing slash. */
  publicUrl: () => string;
  /** Whether buttons reach this service; else all is decided in the console. */
  takesClicks: boolean;
}

function weighBlocks(blocks: readonly object[]): number {
  return weigh(JSON.stringify(blocks));
}

function fits(parts: readonly RichElement[]): boolean {
  return parts.every(({ elements }) =>
    elements.every((run) => weigh(run.type === 'link' ? run.url : run.text) <= TEXT_MAX),
  );
}

/** As many parts as fit, in their order, each of them whole. */
function takeParts(parts: readonly RichElement[][], room: number): { blocks: RichBlock[]; leftOut: number } {
  const blocks: RichBlock[] = [];
  let left = room;
  for (const part of parts) {
    const made = block(...part);
    const weight = weighBlocks([made]);
    if (blocks.length >= BLOCKS_MAX - FRAME_BLOCKS || weight > left || !fits(part)) continue;
    blocks.push(made);
    left -= weight;
  }
  return { blocks, leftOut: parts.length - blocks.length };
}

/** Why an approval may not be approved by a button; empty when it may. What is decided here was shown whole here. */
function findHindrances(notice: SlackNotice, leftOut: number, takesClicks: boolean): string[] {
  const isFolded =
    notice.lines.some(({ folded }) => folded !== null) ||
    notice.warnings.some(({ code }) => code === 'folded');
  return [
    ...(leftOut > 0
      ? [
          `Not everything is shown here: ${leftOut === 1 ? '1 part is' : `${leftOut} parts are`} too long for Slack.`,
        ]
      : []),
    ...(isFolded ? ['Of a long value only both ends are shown here.'] : []),
    ...(notice.needs.isSigned ? ['Policy wants a vote that is signed with a passkey.'] : []),
    ...(takesClicks ? [] : ['This service takes no clicks from Slack.']),
  ];
}

function noteOf(
  notice: SlackNotice,
  leftOut: number,
  hindrances: readonly string[],
  url: string,
): RichBlock[] {
  const isOpen = notice.status === 'pending';
  if (isOpen && hindrances.length > 0) {
    return [block(line(stress(hindrances.join(' ')), say(' Approve it '), link(url, 'in the console')))];
  }
  if (leftOut === 0) return [];
  return [
    block(line(stress('Not everything is shown here.'), say(' Read it '), link(url, 'in the console'))),
  ];
}

function button(text: string, actionId: string, more: object): object {
  return { type: 'button', text: { type: 'plain_text', text, emoji: false }, action_id: actionId, ...more };
}

const plain = (text: string): object => ({ type: 'plain_text', text, emoji: false });

/** Asked before a yes to what cannot be undone. */
const CONFIRMATION = {
  title: plain('This cannot be undone'),
  text: plain(
    'By the registry, or as far as it is known, this action destroys something. Approve what is shown?',
  ),
  confirm: plain('Approve'),
  deny: plain('Go back'),
  style: 'danger',
};

function buttonsOf(
  notice: SlackNotice,
  canApprove: boolean,
  { takesClicks }: RenderOptions,
  url: string,
): object {
  const { approvalId, version, actionHash, viewHash, isDestructive } = notice;
  const valueShowing = (shown: string | null): string =>
    writeSlackButton({ approval_id: approvalId, version, action_hash: actionHash, view_hash: shown });
  const value = valueShowing(canApprove ? viewHash : null);
  const confirm = isDestructive ? { confirm: CONFIRMATION } : {};
  const isOpen = notice.status === 'pending';
  const elements = [
    ...(isOpen && canApprove
      ? [button('Approve', SLACK_ACTIONS.approve, { style: 'primary', value, ...confirm })]
      : []),
    ...(isOpen && takesClicks ? [button('Reject', SLACK_ACTIONS.reject, { style: 'danger', value })] : []),
    button('Open in the console', SLACK_ACTIONS.open, { url }),
  ];
  return { type: 'actions', elements };
}

function notificationOf(notice: SlackNotice): string {
  const { tool, action, agent, approvalId } = notice;
  const names = [tool, action, agent];
  const what = names.every((name) => UNMISTAKABLE.test(name)) ? `: ${tool} ${action} by ${agent}` : '';
  return `${titleOf(notice)}${what} (${approvalId})`;
}

/**
 * A notice as a message of Block Kit, within Slack's limits. Of what would run nothing is cut: a part that does not fit
 * is left out as a whole, the message says so, and then has no button to approve. A message whose approval is no longer
 * pending has no buttons but the way to the console.
 */
export function renderMessage(notice: SlackNotice, options: RenderOptions): SlackMessage {
  const url = `${options.publicUrl()}/console/approvals/${notice.approvalId}`;
  const header = { type: 'header', text: plain(titleOf(notice)) };
  const state = block(...stateLines(notice));
  const widest = buttonsOf(notice, true, options, url);
  const room = MESSAGE_MAX - NOTE_WEIGHT - weighBlocks([header, state, widest]);
  const { blocks, leftOut } = takeParts([...wordsOfPeople(notice), ...contentOf(notice)], room);
  const hindrances = findHindrances(notice, leftOut, options.takesClicks);
  const note = noteOf(notice, leftOut, hindrances, url);
  const buttons = buttonsOf(notice, hindrances.length === 0, options, url);
  const all = [header, state, ...blocks, ...note, buttons];
  const text = notificationOf(notice);
  const bare = block(
    line(stress(titleOf(notice)), say('. It cannot be shown here. Read it '), link(url, 'in the console')),
  );
  return {
    text,
    blocks: all,
    bare: { text, blocks: [bare] },
    digest: sha256Hex(JSON.stringify([text, all])),
    isOpen: notice.status === 'pending',
  };
}
