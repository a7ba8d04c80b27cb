// Keys for who decides much. None of them decides: `a`, `r` and `e` lead to the form, below what would run.

const GO = {
  q: '/console',
  h: '/console/history',
  g: '/console/grants',
  s: '/console/sessions',
  p: '/console/policy',
};
const GO_MS = 1500;
const HELP = [
  ['j / k', 'next, previous'],
  ['Enter', 'open'],
  ['a', 'approve: to the form'],
  ['r', 'reject: to the form'],
  ['e', 'edit: to the form'],
  ['g then q, h, g, s, p', 'go to queue, history, grants, sessions, policy'],
  ['?', 'this help'],
  ['Esc', 'close, leave a field'],
];

/** Where it is kept that somebody turned the keys off: who dictates, or hits keys unawares (WCAG 2.2, 2.1.4). */
const OFF = 'aegis.keys.off';

let goUntil = 0;

function areKeysOn() {
  try {
    return localStorage.getItem(OFF) === null;
  } catch {
    return true; // A browser that keeps nothing.
  }
}

function turnKeys(on) {
  try {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
  } catch {
    // As above.
  }
}

function isTyping(element) {
  return (
    element instanceof HTMLElement &&
    (element.isContentEditable || element.matches('input, textarea, select'))
  );
}

function links() {
  return [...document.querySelectorAll('a.row-link')].filter((link) => link.closest('[hidden]') === null);
}

function move(step) {
  const all = links();
  if (all.length === 0) return false;
  const current = all.findIndex((link) => {
    const row = link.closest('li, tr') ?? link;
    return row.contains(document.activeElement);
  });
  const next =
    current === -1 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(current + step, 0), all.length - 1);
  all[next].focus();
  all[next].scrollIntoView({ block: 'nearest' });
  return true;
}

/** Opens what a form is in, and puts the cursor into the first thing of it that can be used. */
function openForm(name) {
  const section = document.getElementById(name);
  if (section === null) return false;
  if (section instanceof HTMLDetailsElement) section.open = true;
  const fields = 'textarea, input:not([type="hidden"]), button';
  const target = [...section.querySelectorAll(fields)].find(
    (field) => !field.disabled && field.closest('[hidden]') === null,
  );
  section.scrollIntoView({ block: 'start' });
  if (target !== undefined) {
    target.focus();
  } else {
    section.tabIndex = -1;
    section.focus();
  }
  return true;
}

function decide(name) {
  if (document.getElementById('decide') !== null) return openForm(name);
  const row = document.activeElement?.closest('li, tr');
  const link = row?.querySelector('a.row-link');
  if (link == null || !link.pathname.startsWith('/console/approvals/')) return false;
  location.assign(`${link.pathname}#to-${name}`);
  return true;
}

function makeHelp() {
  const dialog = document.createElement('dialog');
  dialog.id = 'help';
  dialog.setAttribute('aria-labelledby', 'help-title');
  const title = document.createElement('h2');
  title.id = 'help-title';
  title.textContent = 'Keys';
  const list = document.createElement('dl');
  list.className = 'keys';
  for (const [key, what] of HELP) {
    const term = document.createElement('dt');
    const kbd = document.createElement('kbd');
    kbd.textContent = key;
    term.append(kbd);
    const meaning = document.createElement('dd');
    meaning.textContent = what;
    list.append(term, meaning);
  }
  const choice = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.id = 'keys-on';
  box.checked = areKeysOn();
  box.addEventListener('change', () => turnKeys(box.checked));
  choice.append(box, ' Use these keys');
  const form = document.createElement('form');
  form.method = 'dialog';
  const close = document.createElement('button');
  close.className = 'button';
  close.textContent = 'Close';
  form.append(close);
  dialog.append(title, list, choice, form);
  document.body.append(dialog);
  return dialog;
}

function help() {
  const dialog = document.getElementById('help') ?? makeHelp();
  if (!dialog.open) dialog.showModal();
  return true;
}

function go(key) {
  goUntil = 0;
  if (GO[key] === undefined) return false;
  location.assign(GO[key]);
  return true;
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => decide('approve'),
  r: () => decide('reject'),
  e: () => decide('edit'),
  '?': help,
  g: () => {
    goUntil = performance.now() + GO_MS;
    return true;
  },
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  if (event.key === 'Escape' && isTyping(event.target)) {
    event.target.blur();
    return;
  }
  if (isTyping(event.target) || document.querySelector('dialog[open]') !== null || !areKeysOn()) return;
  const isUsed = performance.now() < goUntil ? go(event.key) : KEYS[event.key]?.();
  if (isUsed) event.preventDefault();
});

const footer = document.querySelector('.foot');
if (footer !== null) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button small';
  button.textContent = 'Keys';
  button.addEventListener('click', help);
  footer.append(' ', button);
}

// No element has this for its id: a browser takes the cursor away once it has gone to one that has.
const wanted = /^#to-(approve|reject|edit)$/.exec(location.hash)?.[1];
if (wanted !== undefined) openForm(wanted);
