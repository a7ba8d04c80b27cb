import type { Frame } from './frame.ts';
import { renderPage } from './render.tsx';

/**
 * A page that the browser leaves by itself. No redirect: the policy of where forms may lead would stop one to the
 * provider, and one that ends a way through other sites would come without the session's cookie.
 */
export function goOn(frame: Frame, heading: string, label: string, to: string): Promise<Response> {
  return renderPage(frame.assets, {
    title: heading,
    section: null,
    signedIn: null,
    status: 200,
    refreshTo: to,
    body: (
      <section class="card narrow stack">
        <h1>{heading}</h1>
        <p>
          <a class="button primary" href={to}>
            {label}
          </a>
        </p>
      </section>
    ),
  });
}
