import { makeKey } from '../support/calls.ts';
import type { TestService } from '../support/test_service.ts';
import { formOf } from './page_html.ts';
import { type Browser, type PageAnswer, signIn } from './support.ts';

/** Somebody at a browser of their own, with a key of their own. */
export async function person(service: TestService, key: object): Promise<Browser> {
  const { token } = await makeKey(service.operator, key);
  return signIn(service, token);
}

/** Sends a form of a page as it stands, but for what is typed into it. */
export async function send(
  browser: Browser,
  path: string,
  formId: string,
  typed: Record<string, string> = {},
): Promise<PageAnswer> {
  const page = await browser.get(path);
  const { action, fields } = formOf(page.html, formId);
  return browser.post(action, { ...fields, ...typed });
}

/** The same with a page that was loaded before. */
export function sendFrom(
  browser: Browser,
  html: string,
  formId: string,
  typed: Record<string, string> = {},
): Promise<PageAnswer> {
  const { action, fields } = formOf(html, formId);
  return browser.post(action, { ...fields, ...typed });
}
