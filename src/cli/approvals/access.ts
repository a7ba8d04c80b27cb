import { OperatorError } from '../../core/operator_error.ts';
import { oneLine } from '../config_values.ts';

const URL_DEFAULT = 'http://127.0.0.1:8080';

/** Which service is asked, and as whom. */
export interface Access {
  /** Without a slash at its end. */
  url: string;
  /** Never shown, in no message. */
  key: string;
}

/** What a bearer token may be made of (RFC 6750 §2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/** @throws OperatorError in one line, when `AEGIS_KEY` is missing or one of the two cannot be meant. */
export function readAccess(env: NodeJS.ProcessEnv): Access {
  const url = parseServiceUrl(env.AEGIS_URL || URL_DEFAULT);
  const key = env.AEGIS_KEY || undefined;
  if (key === undefined) {
    throw new OperatorError(
      'AEGIS_KEY is not set. Set it to an approver’s key: the first start writes one to `first-keys.json` in its data folder, and `aegis keys create --principal NAME --role approver` makes another',
    );
  }
  if (!TOKEN.test(key)) {
    throw new OperatorError(
      'AEGIS_KEY is no key: it has spaces or other characters that no key has. Set it to the key alone',
    );
  }
  return { url, key };
}

/** The address of a service, without a slash at its end. @throws OperatorError for what is none. */
export function parseServiceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  // Credentials, a query or a fragment would be lost without a word, or end up in messages.
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !isHttp || !isPlain) {
    const shown = url === undefined || url.password === '' ? ` is \`${oneLine(text)}\` but` : '';
    throw new OperatorError(
      `AEGIS_URL${shown} must be the http or https address of a service, without user, query or fragment. For example: AEGIS_URL=${URL_DEFAULT}`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Whether the key goes to another machine in the clear. */
export function isReadableOnTheWay({ url }: Access): boolean {
  const { protocol, hostname } = new URL(url);
  const isLoopback = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === 'http:' && !isLoopback;
}
