// Passkeys: registers them, and signs votes with them. Without this script votes are cast unsigned, where policy lets
// them be, and what needs a passkey says so.
import './simplewebauthn.js';

const { browserSupportsWebAuthn, startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;

const isSupported = browserSupportsWebAuthn();
const UNSUPPORTED = 'This browser has no passkeys, or the console is not opened at its own address.';

/** Says in the form, and to screen readers, what stands in the way or is going on. */
function say(form, text) {
  let place = form.querySelector('[data-passkey-says]');
  if (place === null) {
    place = document.createElement('p');
    place.dataset.passkeySays = '';
    place.className = 'why';
    place.setAttribute('role', 'alert');
    form.append(place);
  }
  place.textContent = text;
}

/** Sends the form's fields as the form would, and gives the JSON that comes back. Throws with the problem's words. */
async function ask(path, form, more) {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) fields.set(name, value);
  for (const [name, value] of Object.entries(more)) fields.set(name, value);
  const response = await fetch(path, {
    method: 'POST',
    body: fields,
    headers: { accept: 'application/json' },
    redirect: 'error',
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}

/** Why a passkey was not had, in words for people. */
function describe(error) {
  if (error?.cause?.name === 'NotAllowedError' || error?.name === 'NotAllowedError') {
    return 'The passkey was not used: it was cancelled or took too long. Nothing was sent. Try again.';
  }
  if (error?.name === 'InvalidStateError') return 'This device has a passkey of yours already.';
  return `Nothing was sent: ${error?.message ?? 'the passkey did not answer'}.`;
}

async function sign(form) {
  const { approval, decision } = form.dataset;
  const { options } = await ask(`/console/approvals/${approval}/signature-options`, form, { decision });
  form.elements.signature.value = JSON.stringify(await startAuthentication({ optionsJSON: options }));
}

async function register(form) {
  const { options, assertion_options: older } = await ask(form.dataset.passkeyOptions, form, {});
  form.elements.registration.value = JSON.stringify(await startRegistration({ optionsJSON: options }));
  if (older === null) return;
  say(form, 'Now confirm it with a passkey that you have.');
  form.elements.assertion.value = JSON.stringify(await startAuthentication({ optionsJSON: older }));
}

/** What a form needs before it is sent; undefined for nothing. */
function preparationOf(form) {
  if (form.dataset.passkeyOptions !== undefined) return register;
  if (form.elements.signature === undefined) return undefined;
  const isRequired = form.querySelector('[data-passkey="required"]') !== null;
  const isChosen = form.querySelector('[data-passkey-choice]')?.checked === true;
  return isRequired || isChosen ? sign : undefined;
}

const underWay = new WeakSet();

document.addEventListener('submit', async (event) => {
  const form = event.target;
  const prepare = preparationOf(form);
  if (prepare === undefined) return;
  event.preventDefault();
  if (underWay.has(form)) return;
  underWay.add(form);
  try {
    await prepare(form);
    // Past this listener: what the browser answered is in the form.
    form.submit();
  } catch (error) {
    say(form, describe(error));
  } finally {
    underWay.delete(form);
  }
});

/** Offers what this script can do, in forms that are there or come later. */
function equip() {
  for (const offer of document.querySelectorAll('[data-passkey="offered"][hidden]'))
    offer.hidden = !isSupported;
  const needing = [...document.forms].filter(
    (form) =>
      form.dataset.passkeyOptions !== undefined || form.querySelector('[data-passkey="required"]') !== null,
  );
  for (const button of needing.flatMap((form) => [...form.querySelectorAll('button[disabled]')])) {
    const why = document.getElementById(button.getAttribute('aria-describedby') ?? '');
    if (!isSupported) {
      if (why !== null && why.textContent !== UNSUPPORTED) why.textContent = UNSUPPORTED;
      continue;
    }
    button.disabled = false;
    button.removeAttribute('aria-describedby');
    why?.remove();
  }
}

equip();
new MutationObserver(equip).observe(document.getElementById('main'), { childList: true, subtree: true });
