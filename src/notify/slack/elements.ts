// Block Kit as far as it is used here. Nothing is ever mrkdwn: what others wrote stands in elements that Slack shows
// letter by letter, in which no link, mention, emoji or format can be written, and behind a fence.

/** A run of text in a line. */
export type Run =
  | { type: 'text'; text: string; style?: { bold?: true; code?: true } }
  | { type: 'link'; url: string; text: string };

export type RichElement =
  | { type: 'rich_text_section'; elements: Run[] }
  | { type: 'rich_text_preformatted'; elements: Run[] };

export interface RichBlock {
  type: 'rich_text';
  elements: RichElement[];
}

/** Words of this service. */
export function say(text: string): Run {
  return { type: 'text', text };
}

/** Words of this service that stand out. */
export function stress(text: string): Run {
  return { type: 'text', text, style: { bold: true } };
}

/** Slack refuses an element without text. */
const NOTHING = '(empty)';

/** What others wrote, in a line of ours. */
export function quote(text: string): Run {
  return { type: 'text', text: text === '' ? NOTHING : text, style: { code: true } };
}

export function link(url: string, text: string): Run {
  return { type: 'link', url, text };
}

export function line(...elements: Run[]): RichElement {
  return { type: 'rich_text_section', elements };
}

/** What others wrote, in a box of its own: however a screen wraps it, it cannot pass for a line of ours. */
export function fence(text: string): RichElement {
  return { type: 'rich_text_preformatted', elements: [{ type: 'text', text: text === '' ? NOTHING : text }] };
}

export function block(...elements: RichElement[]): RichBlock {
  return { type: 'rich_text', elements };
}

/** Names with commas between, each as a quotation. */
export function quoteAll(names: readonly string[]): Run[] {
  return names.flatMap((name, index) => (index === 0 ? [quote(name)] : [say(', '), quote(name)]));
}

/** An instant, in full: a message is read hours later and elsewhere. */
export function formatInstant(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/**
 * How many characters a text may take where Slack counts: `&`, `<` and `>` as the entities they become, a slash as
 * escaped, and whatever is not ASCII as its escapes in JSON. Never too few.
 */
export function weigh(text: string): number {
  let weight = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7e) weight += 6;
    else if (unit === 0x26 || unit === 0x3c || unit === 0x3e) weight += 5;
    else weight += unit === 0x2f ? 2 : 1;
  }
  return weight;
}
