import type { Log } from '../http/log.ts';
import { logFault } from '../http/log_fault.ts';
import { negotiate } from '../http/negotiate.ts';
import { buildProblem, type Problem } from '../http/problem.ts';
import { newRequestId } from '../http/request_id.ts';
import { toFault } from '../http/to_fault.ts';
import type { Assets } from './assets.ts';
import type { SignedIn } from './layout.tsx';
import { Prose } from './prose.tsx';
import { renderPage } from './render.tsx';

/** Whether a request asks for JSON rather than HTML, as scripts do. */
export function wantsJson(accept: string | undefined): boolean {
  return negotiate(accept, ['text/html', 'application/problem+json', 'application/json']) !== 'text/html';
}

function Written({ texts }: { texts: readonly string[] }) {
  return (
    <>
      <p id="written-title">This is what you wrote. Copy it, if you want to keep it:</p>
      {texts.map((text) => (
        <p class="field">
          <textarea readonly rows={Math.min(text.split('\n').length + 1, 24)} aria-labelledby="written-title">
            {`\n${text}`}
          </textarea>
        </p>
      ))}
    </>
  );
}

interface ProblemPageProps {
  body: Problem['body'];
  isSignedIn: boolean;
  written: readonly string[];
}

function ProblemPage({ body, isSignedIn, written }: ProblemPageProps) {
  const { title, status, detail, code, request_id: requestId, errors = [] } = body;
  return (
    <section class="card problem">
      <p class="muted">
        {status} <code>{code}</code>
      </p>
      <h1 class="capital">{title}</h1>
      <p role="alert">
        <Prose text={detail} />
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ pointer, reason }) => (
            <li>
              <code>{pointer === '' ? '/' : pointer}</code> {reason}
            </li>
          ))}
        </ul>
      )}
      {written.length > 0 && <Written texts={written} />}
      <p>
        <a class="button" href={isSignedIn ? '/console' : '/console/sign-in'}>
          {isSignedIn ? 'To the queue' : 'Sign in'}
        </a>
      </p>
      <p class="muted">
        Request <code>{requestId}</code>
      </p>
    </section>
  );
}

export interface FaultPageOptions {
  assets: Assets;
  log: Log;
  accept: string | undefined;
  signedIn: SignedIn | null;
  /** The methods served at this path, for a 405. */
  allow?: readonly string[];
  /** What somebody wrote into the form that was refused. */
  written?: readonly string[];
}

/**
 * Whatever was thrown as a page that says what to do next, with the problem's status and headers; as the problem itself
 * for a script that asks for JSON rather than HTML. What the client is not told is logged under the id that it is.
 */
export async function answerFault(error: unknown, options: FaultPageOptions): Promise<Response> {
  const { assets, log, accept, signedIn, allow, written = [] } = options;
  const fault = toFault(error);
  const requestId = newRequestId();
  logFault(log, fault, requestId);
  const { status, headers, body } = buildProblem(fault, { requestId, ...(allow && { allow }) });
  if (wantsJson(accept)) return new Response(JSON.stringify(body), { status, headers });
  const page = await renderPage(assets, {
    title: body.title,
    section: null,
    signedIn,
    status,
    body: <ProblemPage body={body} isSignedIn={signedIn !== null} written={written} />,
  });
  for (const [name, value] of Object.entries(headers)) {
    if (name !== 'content-type') page.headers.set(name, value);
  }
  return page;
}
