import * as z from 'zod';

/** The buttons of a message, by `action_id`. */
export const SLACK_ACTIONS = {
  approve: 'aegis_approve',
  reject: 'aegis_reject',
  open: 'aegis_open',
} as const;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** What a button says when it is pressed: what was decided, and on what exactly. */
const buttonValue = z.strictObject({
  v: z.literal(1),
  approval_id: z.string().max(64),
  version: z.int().min(1),
  action_hash: sha256,
  /** The view that was shown whole beside the button; null where it was not. */
  view_hash: sha256.nullable(),
});

export type SlackButtonValue = z.output<typeof buttonValue>;

/** A button's value; some 250 characters of the 2,000 that Slack takes. */
export function writeSlackButton(value: Omit<SlackButtonValue, 'v'>): string {
  return JSON.stringify({ v: 1, ...value } satisfies SlackButtonValue);
}

/** What a button says; undefined for any text that no button of ours has. */
export function readSlackButton(text: string): SlackButtonValue | undefined {
  try {
    return buttonValue.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
