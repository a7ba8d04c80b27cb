import { skipName } from './characters.ts';
import type { Sieve } from './sieve.ts';

/** Where to look for a rule whose keywords do not begin its match. */
interface Anchor {
  keywords?: readonly string[];
  /** How many characters before the keyword a match can begin; then the stretch is searched. */
  before?: number;
  /** How far from a place without a match the next is looked at. */
  stride?: number;
  /** How many characters are looked at, where fewer will do than the expression's counts say. */
  reach?: number;
  /** A look before the expression; where it says no, there is no match. */
  sieve?: Sieve;
}

/** A look at what stands about a word, from some characters before it. */
function about(before: number, regex: RegExp): Sieve {
  return (text, start) => start >= before && regex.test(text.slice(start - before, start - before + 256));
}

/** A look at whether the name that a word begins ends before a dot. */
const isNameBeforeDot: Sieve = (text, start) => text[skipName(text, start, 320)] === '.';

/** By rule. The others of the catalogue begin with one of their keywords, after a name at most. */
export const ANCHORS: Readonly<Record<string, Anchor>> = {
  'airtable-personnal-access-token': { keywords: ['pat'] },
  'azure-ad-client-secret': { before: 5, sieve: about(4, /^[\w~.]{3}\dQ~[\w~.-]{31,34}(?:$|[\\'"`\s<),])/) },
  'cloudflare-origin-ca-key': { keywords: ['v1.0-'] },
  'facebook-access-token': { before: 256, stride: 128 },
  'freemius-secret-key': {
    before: 1,
    sieve: about(1, /^["']secret_key["']\s*=>\s*["']sk_[^\t\n\f\r ]{29}["']/i),
  },
  'generic-api-key': { reach: 256 },
  'hashicorp-tf-api-token': { before: 15, sieve: about(15, /^[a-z0-9]{14}\.atlasv1\.[\w=-]{60}/iu) },
  'intra42-client-secret': { keywords: ['s-s4t2'] },
  'gitlab-pat-routable': { sieve: isNameBeforeDot },
  'gitlab-runner-authentication-token-routable': { sieve: isNameBeforeDot },
  'gocardless-api-token': { keywords: ['gocardless'] },
  'lob-api-key': { keywords: ['lob'] },
  'lob-pub-api-key': { keywords: ['lob'] },
  'maxmind-license-key': { before: 36, sieve: about(36, /^[a-z0-9]{6}_[a-z0-9]{29}_mmk/i) },
  'microsoft-teams-webhook': {
    keywords: ['.webhook.office.com'],
    before: 80,
    sieve: about(0, /^\.webhook\.office\.com\/webhookb2\/[a-z0-9]{8}-/),
  },
  'new-relic-browser-api-token': { keywords: ['new-relic', 'newrelic', 'new_relic'] },
  'new-relic-insert-key': { keywords: ['new-relic', 'newrelic', 'new_relic'] },
  'new-relic-user-api-key': { keywords: ['new-relic', 'newrelic', 'new_relic'] },
  'openai-api-key': { keywords: ['sk-'] },
  'sidekiq-sensitive-url': { before: 40, sieve: about(18, /^[a-f0-9]{8}:[a-f0-9]{8}@/i) },
  'slack-webhook-url': {},
  'sourcegraph-access-token': { keywords: ['sgp_', 'sourcegraph'], before: 256, stride: 128 },
  'typeform-api-token': { keywords: ['typeform'] },
};
