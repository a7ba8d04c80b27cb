import { CsrfField } from './csrf_field.tsx';
import { Prose } from './prose.tsx';

export interface SignInPageProps {
  csrf: string;
  returnTo: string;
  /** The OpenID provider's name, where one is configured. */
  provider: string | undefined;
  /** Why the last try failed, and what to do next. */
  alert?: string;
  note?: string;
}

interface FormProps {
  csrf: string;
  returnTo: string;
}

function KeyForm({ csrf, returnTo, hasFailed }: FormProps & { hasFailed: boolean }) {
  return (
    <form method="post" action="/console/sign-in" class="stack">
      <CsrfField token={csrf} />
      <input type="hidden" name="return_to" value={returnTo} />
      <div class="field">
        <label for="key">Key</label>
        <input
          id="key"
          name="key"
          type="password"
          required
          maxlength={600}
          autocomplete="current-password"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby={hasFailed ? 'key-help sign-in-alert' : 'key-help'}
          {...(hasFailed && { 'aria-invalid': 'true' })}
        />
        <p id="key-help" class="help">
          An approver’s, operator’s or auditor’s key, as it begins with <code>aeg_key_</code>. It is sent to
          this service alone and kept nowhere in the browser.
        </p>
      </div>
      <button type="submit" class="button primary">
        Sign in
      </button>
    </form>
  );
}

function ProviderForm({ csrf, returnTo, provider }: FormProps & { provider: string }) {
  return (
    <form method="post" action="/console/oidc/start" class="stack">
      <CsrfField token={csrf} />
      <input type="hidden" name="return_to" value={returnTo} />
      <button type="submit" class="button">
        Sign in with {provider}
      </button>
    </form>
  );
}

/** How to sign in: with a key, and at the OpenID provider where there is one. */
export function SignInPage({ csrf, returnTo, provider, alert, note }: SignInPageProps) {
  return (
    <section class="card narrow stack">
      <h1>Sign in</h1>
      {note !== undefined && <p role="status">{note}</p>}
      {alert !== undefined && (
        <p class="alert" role="alert" id="sign-in-alert">
          <Prose text={alert} />
        </p>
      )}
      <KeyForm csrf={csrf} returnTo={returnTo} hasFailed={alert !== undefined} />
      {provider !== undefined && (
        <>
          <p class="muted divider">or</p>
          <ProviderForm csrf={csrf} returnTo={returnTo} provider={provider} />
        </>
      )}
    </section>
  );
}
