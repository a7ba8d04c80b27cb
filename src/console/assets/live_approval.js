import { adopt, announce, fetchFragment, follow } from './live.js';

const page = document.getElementById('approval');

/** Of the approval's own page: after a form that did nothing the address is the form's. */
function pathOf() {
  return `/console/approvals/${page.dataset.approval}`;
}

/** What tells how it stands is replaced; what is being read or typed into stays. */
function replace(fresh, id) {
  const old = document.getElementById(id);
  const next = fresh.getElementById(id);
  if (old === null || next === null || old.contains(document.activeElement)) return;
  old.replaceWith(adopt(next));
}

/** Makes the forms of this page useless, in their place, with the reason; what was typed can still be copied. */
function disable(text) {
  // What offers to sign is taken away first: it would make buttons usable that wait for a passkey.
  for (const offer of page.querySelectorAll('#decide [data-passkey]')) offer.remove();
  for (const button of page.querySelectorAll('#decide button[type="submit"]')) {
    button.disabled = true;
    const why = document.getElementById(`${button.id}-why`) ?? document.createElement('p');
    why.id = `${button.id}-why`;
    why.className = 'why';
    why.textContent = 'It has changed since this page was loaded.';
    button.setAttribute('aria-describedby', why.id);
    button.after(why);
  }
  const changed = document.getElementById('changed');
  const link = document.createElement('a');
  link.href = pathOf();
  link.textContent = 'Load it as it is now';
  changed.replaceChildren(`${text} Nothing can be decided from what is shown here. `, link);
  changed.hidden = false;
}

function describe(fresh) {
  const state = fresh.getElementById('state')?.querySelector('.badge')?.textContent ?? '';
  const lastly = [...(fresh.querySelector('#story li:last-child')?.childNodes ?? [])];
  const texts = lastly.map((node) => node.textContent.replace(/\s+/g, ' ').trim());
  const told = texts.filter((text) => text !== '').join(' ');
  return `It has changed while you looked at it: ${state}${told === '' ? '' : ` (${told})`}.`;
}

async function refresh() {
  const fresh = await fetchFragment(`${pathOf()}?fragment=1`);
  const body = fresh.getElementById('approval');
  if (body === null) throw new Error('no approval');
  for (const id of ['state', 'voters', 'story']) replace(fresh, id);
  if (body.dataset.stamp === page.dataset.stamp || page.dataset.isStale === 'yes') return;
  page.dataset.isStale = 'yes';
  const text = describe(fresh);
  disable(text);
  announce(text);
}

if (page !== null) {
  const { refreshAll } = follow(refresh, (id) => id === page.dataset.approval);
  document.addEventListener('aegis:expired', refreshAll);
}

// What a form was answered with is read first.
(document.getElementById('refusal') ?? document.getElementById('became'))?.focus();
