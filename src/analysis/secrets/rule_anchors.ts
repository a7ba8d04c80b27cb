/** Where to look for a rule whose keywords do not begin its match. */
interface Anchor {
  keywords?: readonly string[];
  /** How many characters before the keyword a match can begin; then the stretch is searched. */
  before?: number;
  /** How far from a place without a match the next is looked at. */
  stride?: number;
  /** How many characters are looked at, where fewer will do than the expression's counts say. */
  reach?: number;
}

/** By rule. The others of the catalogue begin with one of their keywords, after a name at most. */
export const ANCHORS: Readonly<Record<string, Anchor>> = {
  'airtable-personnal-access-token': { keywords: ['pat'] },
  'azure-ad-client-secret': { before: 5 },
  'cloudflare-origin-ca-key': { keywords: ['v1.0-'] },
  'facebook-access-token': { before: 256, stride: 128 },
  'freemius-secret-key': { before: 1 },
  'generic-api-key': { reach: 256 },
  'hashicorp-tf-api-token': { before: 15 },
  'intra42-client-secret': { keywords: ['s-s4t2'] },
  'gocardless-api-token': { keywords: ['gocardless'] },
  'lob-api-key': { keywords: ['lob'] },
  'lob-pub-api-key': { keywords: ['lob'] },
  'maxmind-license-key': { before: 36 },
  'microsoft-teams-webhook': { keywords: ['.webhook.office.com'], before: 80 },
  'new-relic-browser-api-token': { keywords: ['new-relic', 'newrelic', 'new_relic'] },
  'new-relic-insert-key': { keywords: ['new-relic', 'newrelic', 'new_relic'] },
  'new-relic-user-api-key': { keywords: ['new-relic', 'newrelic', 'new_relic'] },
  'openai-api-key': { keywords: ['sk-'] },
  'sidekiq-sensitive-url': { before: 40 },
  'slack-webhook-url': { before: 8 },
  'sourcegraph-access-token': { keywords: ['sgp_', 'sourcegraph'], before: 256, stride: 128 },
  'typeform-api-token': { keywords: ['typeform'] },
};
