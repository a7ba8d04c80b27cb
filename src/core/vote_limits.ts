// What a vote may say, by whichever way it comes.

/** Characters of a person's words on it. */
export const REASON_LENGTH_MAX = 2000;
/** How long, and how often, a `window` may hold. */
export const WINDOW_SECONDS_MAX = 86_400;
export const WINDOW_USES_MAX = 100;
