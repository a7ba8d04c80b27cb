// Counts down from what was left by the service's clock when the page was made; this machine's clock may go as it likes.

const SECOND = 1000;
const startedAt = new WeakMap();

function showLeft(ms) {
  const seconds = Math.max(Math.floor(ms / SECOND), 0);
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${seconds} s`;
}

function tick() {
  const now = performance.now();
  for (const element of document.querySelectorAll('.countdown')) {
    if (!startedAt.has(element)) startedAt.set(element, now);
    const left = Number(element.dataset.leftMs) - (now - startedAt.get(element));
    const text = showLeft(left);
    if (element.textContent !== text) element.textContent = text;
    element.classList.toggle('soon', left < 60 * SECOND);
    if (left <= 0 && element.dataset.over === undefined) {
      element.dataset.over = '';
      document.dispatchEvent(new CustomEvent('aegis:expired'));
    }
  }
}

tick();
setInterval(tick, SECOND);
