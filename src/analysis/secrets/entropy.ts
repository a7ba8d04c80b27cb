/** Of the ASCII characters; all 0 between two calls. */
const asciiCounts = new Uint32Array(128);

/** Shannon entropy of a text in bits per character; 0 for an empty one. */
export function computeEntropy(text: string): number {
  const others = new Map<number, number>();
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128) (asciiCounts[code] as number) += 1;
    else others.set(code, (others.get(code) ?? 0) + 1);
  }
  let entropy = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) continue;
    const count = asciiCounts[code] as number;
    if (count === 0) continue;
    asciiCounts[code] = 0;
    entropy += informationOf(count / text.length);
  }
  for (const count of others.values()) entropy += informationOf(count / text.length);
  return entropy;
}

function informationOf(share: number): number {
  return -share * Math.log2(share);
}
