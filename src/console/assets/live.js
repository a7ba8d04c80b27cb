// The stream of events, and what a page says of it. An event only means: ask the server again. Nothing of what it
// carries is put into the page.

const TYPES = [
  'requested',
  'edited',
  'voted',
  'decided',
  'consumed',
  'cancelled',
  'expiring',
  'expired',
  'voided',
];
/** Many consoles hear of one event at one moment; each asks a little later, once for all that came meanwhile. */
const GATHER_MS = 150;
const SPREAD_MS = 450;
/** While one thing follows another a page asks ever less often, down to this; what comes after a pause is shown at once. */
const REST_FIRST_MS = 500;
const REST_MAX_MS = 4000;
const PAUSE_MS = 1000;
/** A page that nobody looks at holds no connection: over HTTP/1.1 a browser has six to one service. */
const HIDDEN_MS = 10_000;
const RETRY_MS = 3000;
const RETRY_SPREAD_MS = 4000;
/** A stream may be dead without anybody knowing: after so long without news a page that is looked at asks. */
const QUIET_MS = 60_000;

/** Says something to who listens to the page rather than looks at it. */
export function announce(text) {
  const live = document.getElementById('live');
  if (live !== null) live.textContent = text;
}

function showConnection(text, isLost) {
  const place = document.getElementById('connection');
  if (place === null || place.textContent === text) return;
  place.textContent = text;
  place.className = isLost ? 'notice' : 'muted';
}

function now() {
  return `${new Date().toISOString().slice(11, 19)} UTC`;
}

/** The session that a page, or the content of one, was made in. */
function sessionOf(root) {
  return root.querySelector('[data-live]')?.dataset.session;
}

/**
 * Fetches the content of a page, made by the server.
 * @returns {Promise<Document>}
 * @throws {Error} with `status` when the server answers with something else.
 */
export async function fetchFragment(path) {
  const response = await fetch(path, {
    headers: { accept: 'application/problem+json' },
    credentials: 'same-origin',
    cache: 'no-store',
  });
  const isContent = response.ok && (response.headers.get('content-type') ?? '').startsWith('text/html');
  if (!isContent) throw Object.assign(new Error('no fragment'), { status: response.status });
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  // Somebody else may have signed in in another tab: what they may see and do is not shown under the first one's name.
  if (sessionOf(fresh) !== sessionOf(document))
    throw Object.assign(new Error('another session'), { isOther: true });
  return fresh;
}

/** An element of a fetched document as a node of this one. */
export function adopt(element) {
  return document.importNode(element, true);
}

/**
 * Calls `refresh` with the ids of approvals that something happened to, and with null when anything may have: after a
 * connection that was lost. While a refresh goes on, what comes is gathered for the next. Events of approvals that are
 * not wanted are not heard.
 */
export function follow(refresh, isWanted = () => true) {
  const gathered = new Set();
  let isWhole = false;
  let timer;
  let isBusy = false;
  let lastAt = now();
  let lastMs = Number.NEGATIVE_INFINITY;
  let restMs = 0;
  let isLost = false;
  let isOver = false;

  const setLost = (value) => {
    if (isLost !== value) announce(value ? 'Connection lost.' : 'Connected again.');
    isLost = value;
    tell();
  };
  const tell = () => {
    if (isLost) showConnection(`Connection lost, last updated at ${lastAt}. Trying again.`, true);
    else showConnection(`Live, last updated at ${lastAt}.`, false);
  };
  const schedule = (ms) => {
    if (timer === undefined && !isBusy && !isOver) timer = setTimeout(run, ms);
  };
  const scheduleSoon = () => {
    const rested = lastMs + restMs - performance.now();
    schedule(Math.max(GATHER_MS, restMs === 0 ? 0 : rested) + Math.random() * SPREAD_MS);
  };
  const end = (text) => {
    isOver = true;
    source?.close();
    showConnection(text, true);
  };
  const run = async () => {
    timer = undefined;
    isBusy = true;
    const isPaused = performance.now() - lastMs > restMs + PAUSE_MS;
    restMs = isPaused ? 0 : Math.min(Math.max(2 * restMs, REST_FIRST_MS), REST_MAX_MS);
    const ids = isWhole ? null : [...gathered];
    gathered.clear();
    isWhole = false;
    try {
      await refresh(ids);
      lastAt = now();
      lastMs = performance.now();
      isBusy = false;
      tell();
    } catch (error) {
      isBusy = false;
      isWhole = true;
      if (error.status === 401) return end('You are signed out. Load the page again to sign in.');
      if (error.isOther) {
        return end('This browser was signed in anew in another tab. Load the page again.');
      }
      showConnection(`Could not look again, last updated at ${lastAt}. Trying again.`, true);
      schedule(RETRY_MS + Math.random() * RETRY_SPREAD_MS);
      return;
    }
    if (isWhole || gathered.size > 0) scheduleSoon();
  };
  const gather = (id) => {
    if (id === null) isWhole = true;
    else gathered.add(id);
    scheduleSoon();
  };

  let source;
  const hear = ({ data }) => {
    try {
      const id = JSON.parse(data).approval_id;
      if (/^apr_[0-9a-f-]{36}$/.test(id) && isWanted(id)) gather(id);
    } catch {
      gather(null);
    }
  };
  const open = () => {
    if (isOver || document.hidden) return;
    source?.close();
    source = new EventSource('/console/events');
    source.onopen = () => {
      // What happened while nobody listened is looked for; at first that is what the page itself has missed.
      setLost(false);
      gather(null);
    };
    source.onerror = () => {
      setLost(true);
      if (source.readyState !== EventSource.CLOSED) return;
      // It was refused: looking again finds out whether the session has ended.
      gather(null);
      setTimeout(open, RETRY_MS + Math.random() * RETRY_SPREAD_MS);
    };
    for (const type of TYPES) source.addEventListener(`approval.${type}`, hear);
  };
  let hiding;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(() => source?.close(), HIDDEN_MS);
    else if (source === undefined || source.readyState === EventSource.CLOSED) open();
  });
  open();
  window.addEventListener('offline', () => setLost(true));
  window.addEventListener('online', open);
  setInterval(() => {
    const isQuiet = performance.now() - lastMs > QUIET_MS;
    if (isQuiet && !document.hidden && source?.readyState === EventSource.OPEN) gather(null);
  }, QUIET_MS / 4);
  return { refreshAll: () => gather(null), refreshOne: gather };
}
