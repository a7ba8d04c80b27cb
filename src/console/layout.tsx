import type { Child } from 'hono/jsx';
import type { Caller } from '../core/caller.ts';
import { CsrfField } from './csrf_field.tsx';
import { type Section, sectionsFor } from './sections.ts';

/** What the header and the footer say of who is signed in. */
export interface SignedIn {
  caller: Caller;
  csrf: string;
}

export interface LayoutProps {
  title: string;
  section: Section | null;
  signedIn: SignedIn | null;
  scripts: readonly string[];
  /** A path to go to by itself after a moment, without a script. */
  refreshTo?: string;
  asset: (name: string) => string;
  children: Child;
}

function Navigation({ section, caller }: { section: Section | null; caller: Caller }) {
  return (
    <nav class="nav" aria-label="Console">
      {sectionsFor(caller.roles).map(({ name, path, label }) => (
        <a href={path} {...(name === section && { 'aria-current': 'page' })}>
          {label}
        </a>
      ))}
    </nav>
  );
}

function Who({ caller, csrf }: SignedIn) {
  return (
    <div class="who">
      <span>
        <span class="visually-hidden">Signed in as </span>
        <strong>{caller.principal}</strong>
        {caller.groups.length > 0 && <span class="muted"> ({caller.groups.join(', ')})</span>}
        <span class="muted"> at {caller.tenantId}</span>
      </span>
      <form method="post" action="/console/sign-out">
        <CsrfField token={csrf} />
        <button type="submit" class="button small">
          Sign out
        </button>
      </form>
    </div>
  );
}

function Head({ title, scripts, asset, refreshTo }: LayoutProps) {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      {refreshTo !== undefined && <meta http-equiv="refresh" content={`0; url=${refreshTo}`} />}
      <title>{`${title} · Aegis`}</title>
      <link rel="icon" href={asset('icon.svg')} type="image/svg+xml" />
      <link rel="stylesheet" href={asset('console.css')} />
      <link rel="stylesheet" href={asset('pages.css')} />
      {scripts.map((name) => (
        <script type="module" src={asset(name)} />
      ))}
    </head>
  );
}

/**
 * The skeleton of every page: header, navigation, the page itself in the main landmark, a live region (`#live`) for
 * what scripts have to announce, and the revision that decides.
 */
export function Layout(props: LayoutProps) {
  const { section, signedIn, children } = props;
  return (
    <html lang="en">
      <Head {...props} />
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="top">
          <a class="brand" href="/console">
            Aegis
          </a>
          {signedIn !== null && <Navigation section={section} caller={signedIn.caller} />}
          {signedIn !== null && <Who {...signedIn} />}
        </header>
        <main id="main" tabindex={-1}>
          {children}
        </main>
        <div id="live" class="visually-hidden" role="status" aria-live="polite" />
        <footer class="foot">
          {signedIn !== null && (
            <span>
              Policy revision <code>{signedIn.caller.tenant.activeRevision}</code>
            </span>
          )}
        </footer>
      </body>
    </html>
  );
}
