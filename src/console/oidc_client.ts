import * as openid from 'openid-client';
import type { OidcLogin } from '../core/console_ports.ts';
import type { PublicUrl } from '../core/public_url.ts';
import { OidcError } from './oidc_error.ts';

export interface OidcClientOptions {
  issuer: string;
  clientId: string;
  clientSecret: string;
  tenantId: string;
  publicUrl: PublicUrl;
}

/** The OpenID provider, as the sign-in needs it. */
export interface OidcClient {
  /** For people: the provider's host. */
  name: string;
  /** The tenant whose principals its subjects are mapped to. */
  tenantId: string;
  /** Where to send the browser, and what to keep until it comes back. @throws OidcError. */
  begin(state: string): Promise<{ url: string; login: Omit<OidcLogin, 'returnTo'> }>;
  /** The subject (`sub`) that the provider vouches for in its answer to this sign-in. @throws OidcError. */
  finish(answer: URLSearchParams, state: string, login: OidcLogin): Promise<string>;
}

/** Where the provider sends the browser back to. */
const OIDC_CALLBACK_PATH = '/console/oidc/callback';

const TIMEOUT_SECONDS = 5;
/** How long what the provider says of itself is believed. */
const DISCOVERY_LIFE_MS = 3_600_000;

/** By the method that the provider takes; without a word of it that is `client_secret_basic` (OpenID Connect Discovery 1.0 §3). */
function authenticateClient(secret: string): openid.ClientAuth {
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

function isUnanswered(error: unknown): boolean {
  const code = error instanceof openid.ClientError ? error.code : undefined;
  const cause = error instanceof Error ? error.cause : undefined;
  return code === 'OAUTH_TIMEOUT' || error instanceof TypeError || cause instanceof TypeError;
}

function toOidcError(error: unknown): OidcError {
  if (error instanceof openid.AuthorizationResponseError) return new OidcError('refused', error);
  return new OidcError(isUnanswered(error) ? 'unreachable' : 'invalid', error);
}

/** Reads what the provider says of itself when it is first needed; a failure is not kept. */
function createDiscovery(options: OidcClientOptions): () => Promise<openid.Configuration> {
  const issuer = new URL(options.issuer);
  const isPlain = issuer.protocol === 'http:';
  let known: { configuration: Promise<openid.Configuration>; until: number } | undefined;
  const discover = () =>
    openid.discovery(issuer, options.clientId, undefined, authenticateClient(options.clientSecret), {
      timeout: TIMEOUT_SECONDS,
      // The ID token's signature is checked although it comes from the token endpoint itself.
      execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
    });
  return async () => {
    if (known === undefined || known.until <= performance.now()) {
      known = { configuration: discover(), until: performance.now() + DISCOVERY_LIFE_MS };
    }
    const mine = known;
    try {
      return await mine.configuration;
    } catch (error) {
      if (known === mine) known = undefined;
      throw new OidcError('unreachable', error);
    }
  };
}

/**
 * A client of the authorization code flow with PKCE (RFC 7636), state and nonce (OpenID Connect Core 1.0 §3.1). The
 * provider is asked for nothing but who it is: the subject.
 */
export function createOidcClient(options: OidcClientOptions): OidcClient {
  const discovered = createDiscovery(options);
  const redirectUri = () => options.publicUrl.get() + OIDC_CALLBACK_PATH;
  return {
    name: new URL(options.issuer).host,
    tenantId: options.tenantId,
    begin: async (state) => {
      const configuration = await discovered();
      const login = { nonce: openid.randomNonce(), codeVerifier: openid.randomPKCECodeVerifier() };
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri(),
        scope: 'openid',
        state,
        nonce: login.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(login.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, login };
    },
    finish: async (answer, state, { nonce, codeVerifier }) => {
      const configuration = await discovered();
      const callback = new URL(redirectUri());
      callback.search = answer.toString();
      try {
        const tokens = await openid.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        return tokens.claims()?.sub ?? '';
      } catch (error) {
        throw toOidcError(error);
      }
    },
  };
}
