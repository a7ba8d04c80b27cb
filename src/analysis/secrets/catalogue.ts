import { ASSIGNMENT_DETECTORS } from './assignments.ts';
import type { Detector, Finding } from './finding.ts';
import { createGitleaksDetectors } from './gitleaks.ts';
import { HTTP_DETECTORS } from './http_credentials.ts';
import { createKeywordScanner } from './keyword_scanner.ts';
import { KUBERNETES_DETECTORS } from './kubernetes.ts';
import { PRIVATE_KEY_DETECTORS } from './private_keys.ts';
import { findInRuns, TOKEN_DETECTORS } from './tokens.ts';

interface Catalogue {
  scan: ReturnType<typeof createKeywordScanner>;
  /** By keyword, in the scanner's order. */
  detectors: Detector[][];
}

let catalogue: Catalogue | undefined;

/** One for the process, made when the first text is looked at. */
function openCatalogue(): Catalogue {
  catalogue ??= create([
    ...PRIVATE_KEY_DETECTORS,
    ...HTTP_DETECTORS,
    ...ASSIGNMENT_DETECTORS,
    ...KUBERNETES_DETECTORS,
    ...TOKEN_DETECTORS,
    ...createGitleaksDetectors(),
  ]);
  return catalogue;
}

function create(all: readonly Detector[]): Catalogue {
  const byKeyword = new Map<string, Detector[]>();
  for (const detector of all) {
    for (const keyword of detector.keywords) {
      byKeyword.set(keyword, [...(byKeyword.get(keyword) ?? []), detector]);
    }
  }
  return { scan: createKeywordScanner([...byKeyword.keys()]), detectors: [...byKeyword.values()] };
}

/** Everything in a text that the catalogue takes for a secret, in the order of the text, merged where they overlap. */
export function findSecrets(text: string): Finding[] {
  const { scan, detectors } = openCatalogue();
  const findings: Finding[] = [];
  // Where the last finding of a detector ends: what stands within it is not looked at again.
  const done = new Map<Detector, number>();
  scan(text, (word, start, end) => {
    for (const detector of detectors[word] as Detector[]) {
      if ((done.get(detector) ?? 0) > start) continue;
      const found = detector.find(text, start, end);
      if (found === undefined) {
        if (detector.stride !== undefined) done.set(detector, start + detector.stride);
        continue;
      }
      if ('missedUntil' in found) {
        done.set(detector, found.missedUntil);
        continue;
      }
      for (const finding of [found].flat()) {
        if (finding.end <= finding.start) continue;
        done.set(detector, finding.end);
        findings.push(finding);
      }
    }
  });
  findInRuns(text, (finding) => findings.push(finding));
  return mergeFindings(findings);
}

/** Findings in the order of the text, those that overlap made one. */
export function mergeFindings(findings: readonly Finding[]): Finding[] {
  const merged: Finding[] = [];
  for (const finding of findings.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last === undefined || finding.start >= last.end) {
      merged.push({ ...finding });
      continue;
    }
    last.end = Math.max(last.end, finding.end);
    if (finding.isPrivateKey) last.isPrivateKey = true;
  }
  return merged;
}
