import { adopt, announce, fetchFragment, follow } from './live.js';

/** How long a row that waits no more stays where it is. */
const STAYS_MS = 8000;
const SWEEP_MS = 1000;
/** More rows than this are looked for all at once. */
const ASKED_MAX = 40;

const queue = document.getElementById('queue');
const goneAt = new Map();

function pathFor(ids) {
  const url = new URL(location.href);
  url.searchParams.set('fragment', '1');
  if (ids !== null && ids.length <= ASKED_MAX) url.searchParams.set('rows', ids.join(','));
  return url.pathname + url.search;
}

/** Whether somebody is at a row: then it stays where it is, and what it is. */
function isInUse(row) {
  return row.contains(document.activeElement) || row.matches(':hover');
}

function rowOf(id) {
  return document.getElementById(`row-${id}`);
}

function count() {
  for (const list of queue.querySelectorAll('.asks')) {
    const section = list.closest('section');
    const rows = list.querySelectorAll(':scope > li:not(.done)').length;
    section.querySelector('.count').textContent = String(rows);
    section.hidden = list.children.length === 0;
  }
}

/** A row keeps its place in the order of expiry; rows that are there do not move for it. */
function insert(row, list, order) {
  const at = order.indexOf(row.dataset.approval);
  const after = order.slice(at + 1).find((id) => rowOf(id)?.parentElement === list);
  if (after === undefined) list.append(row);
  else rowOf(after).before(row);
}

function place(row, order) {
  const old = rowOf(row.dataset.approval);
  const list = queue.querySelector(`.asks[data-list="${row.dataset.list === 'mine' ? 'mine' : 'others'}"]`);
  if (old === null) {
    insert(row, list, order);
    return 'new';
  }
  if (old.dataset.stamp === row.dataset.stamp) return 'same';
  const isFocused = old.contains(document.activeElement);
  if (old.parentElement === list && !isFocused) {
    old.replaceWith(row);
    return 'changed';
  }
  if (isFocused || isInUse(old)) {
    const why = row.querySelector('.why')?.textContent ?? '';
    keepInPlace(old, `It has changed. ${why}`);
    return 'changed';
  }
  old.remove();
  insert(row, list, order);
  return 'changed';
}

/** A row that is in use is not taken away: it says what became of it, and does nothing. */
function keepInPlace(row, text) {
  row.classList.add('stale');
  const note = row.querySelector('.ask-note') ?? document.createElement('p');
  note.className = 'ask-note why';
  note.textContent = text;
  if (note.parentElement === null) row.append(note);
}

/** A row that waits no more becomes what is told of it, in its place, and goes when nobody is at it. */
function finish(done) {
  const old = rowOf(done.dataset.approval);
  if (old === null || old.classList.contains('done')) return false;
  old.classList.add('done');
  const text = done.querySelector('.ask-done')?.textContent ?? 'It waits no more.';
  keepInPlace(old, text);
  goneAt.set(old, performance.now());
  return true;
}

function sweep() {
  for (const [row, at] of goneAt) {
    if (performance.now() - at < STAYS_MS || isInUse(row)) continue;
    row.remove();
    goneAt.delete(row);
  }
  count();
}

function replaceSummary(fresh) {
  const summary = document.getElementById('queue-summary');
  const next = fresh.getElementById('queue-summary');
  if (next === null || summary.contains(document.activeElement)) return;
  summary.replaceWith(adopt(next));
}

/** Rows that are here and no longer in the order, when all of it was read. */
function finishMissing(order) {
  for (const row of queue.querySelectorAll('.asks > li:not(.done)')) {
    if (order.includes(row.dataset.approval)) continue;
    row.classList.add('done');
    keepInPlace(row, 'It waits no more.');
    goneAt.set(row, performance.now());
  }
}

function say(added, gone) {
  const parts = [];
  if (added > 0) parts.push(added === 1 ? '1 new approval waits' : `${added} new approvals wait`);
  if (gone > 0) parts.push(gone === 1 ? '1 approval waits no more' : `${gone} approvals wait no more`);
  if (parts.length > 0) announce(`${parts.join(', ')}.`);
}

async function refresh(ids) {
  const fresh = await fetchFragment(pathFor(ids));
  const body = fresh.getElementById('queue');
  if (body === null) throw new Error('no queue');
  const order = body.dataset.order === '' ? [] : body.dataset.order.split(' ');
  const changes = [...body.querySelectorAll('.asks > li')].map((row) => place(adopt(row), order));
  const gone = [...body.querySelectorAll('#gone > li')].filter(finish);
  if (ids === null || ids.length > ASKED_MAX) finishMissing(order);
  replaceSummary(fresh);
  count();
  say(changes.filter((change) => change === 'new').length, gone.length);
}

if (queue !== null) {
  const { refreshAll, refreshOne } = follow(refresh);
  // What had changed while somebody was at it is shown as it is once they have left it.
  queue.addEventListener('focusout', ({ target }) => {
    const row = target.closest('.ask.stale:not(.done)');
    if (row !== null) refreshOne(row.dataset.approval);
  });
  document.addEventListener('aegis:expired', refreshAll);
  setInterval(sweep, SWEEP_MS);
}
