import type { Child } from 'hono/jsx';
import { sha256Hex } from '../../../core/digest.ts';
import type { HtmlAnswer, PageInput, RawAnswer } from '../../page.ts';

const MARK_LENGTH = 16;

/** Tells sessions apart, by the token of their forms: a script takes no parts of what another session was given. */
export function markSession(csrf: string): string {
  return sha256Hex(csrf).slice(0, MARK_LENGTH);
}

/** Whether a script asks for the page's content alone, to take parts of it. */
export function isFragment(query: URLSearchParams): boolean {
  return query.get('fragment') === '1';
}

/** A page, or its content alone where a script asks for that. */
export async function answerWithFragment(
  { query }: Pick<PageInput, 'query'>,
  answer: HtmlAnswer,
): Promise<HtmlAnswer | RawAnswer> {
  if (!isFragment(query)) return answer;
  return {
    kind: 'raw',
    mediaType: 'text/html; charset=utf-8',
    content: await render(answer.body),
  };
}

async function render(body: Child): Promise<string> {
  return String(await body);
}
