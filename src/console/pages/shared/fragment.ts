import type { Child } from 'hono/jsx';
import type { HtmlAnswer, PageInput, RawAnswer } from '../../page.ts';

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
