import { canonicalize } from '../../core/canonical_json.ts';
import { computeFingerprint } from '../../core/fingerprint.ts';
import type { Masker } from '../../core/masker.ts';
import { remember } from '../../core/remember.ts';
import { findSecrets, mergeFindings } from './catalogue.ts';
import type { Finding } from './finding.ts';

/** How often a text is looked at again after secrets in it were replaced. Most rest after the first time. */
const PASSES_MAX = 8;

/** Short texts whose answers are kept, of each kind; then all are forgotten. A view asks about the same ones again. */
const KNOWN = { entries: 256, length: 256 };

/** A masker whose fingerprints are made with `key`. Cheap: the catalogue behind it is one for the process. */
export function createMasker(key: string): Masker {
  const maskRaw = rememberText((raw) => `(secret ${computeFingerprint(key, raw)})`);
  return {
    maskText: rememberText((text) => maskText(text, maskRaw)),
    maskWhole: (value) => maskRaw(typeof value === 'string' ? value : canonicalize(value)),
  };
}

function rememberText(answer: (text: string) => string): (text: string) => string {
  return remember(answer, (text) => text, KNOWN);
}

/**
 * Replaces findings until nothing more is found. A text that does not come to rest is masked whole, so that what comes
 * out has no match left.
 */
function maskText(raw: string, maskRaw: (raw: string) => string): string {
  let replaced: Finding[] = [];
  let text = raw;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const found = findSecrets(text);
    if (found.length === 0) return text;
    const masked = replaceAll(raw, replaced, maskRaw);
    replaced = mergeFindings([...replaced, ...found.map((finding) => masked.toRaw(finding))]);
    text = replaceAll(raw, replaced, maskRaw).text;
  }
  return maskRaw(raw);
}

interface Replaced {
  text: string;
  /** A stretch of the text as the stretch of the raw text it stands for, with whole what it touches of a mask. */
  toRaw: (finding: Finding) => Finding;
}

function replaceAll(raw: string, findings: readonly Finding[], maskRaw: (raw: string) => string): Replaced {
  const masks: { start: number; end: number; raw: Finding }[] = [];
  let text = '';
  let at = 0;
  for (const finding of findings) {
    text += raw.slice(at, finding.start);
    const mask = maskRaw(raw.slice(finding.start, finding.end));
    masks.push({ start: text.length, end: text.length + mask.length, raw: finding });
    text += mask;
    at = finding.end;
  }
  text += raw.slice(at);
  const place = (position: number, side: 'start' | 'end'): number => {
    const mask = lastBefore(masks, side === 'start' ? position : position - 1);
    if (mask === undefined) return position;
    return position < mask.end || (side === 'end' && position === mask.end)
      ? mask.raw[side]
      : position - mask.end + mask.raw.end;
  };
  return { text, toRaw: ({ start, end }) => ({ start: place(start, 'start'), end: place(end, 'end') }) };
}

/** The last of some masks that begins at a position or before it. */
function lastBefore<T extends { start: number }>(masks: readonly T[], position: number): T | undefined {
  let low = 0;
  let high = masks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((masks[middle] as T).start <= position) low = middle + 1;
    else high = middle;
  }
  return masks[low - 1];
}
