/** A media range of an `Accept` header with its weight. */
interface Range {
  type: string;
  weight: number;
}

/** RFC 9110 §12.4.2: 0 to 1, with up to three digits behind the point. */
const WEIGHT = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;

const CHARSET = /^charset=(?:utf-8|"utf-8")$/;

/**
 * The media type of those offered that a client likes best by its `Accept` header (RFC 9110 §12.5.1): by the weight of
 * the range that names it most closely, between equals the first. That is the answer too where no header was sent and
 * where none of the offered is acceptable. Everything offered is UTF-8: a range may say so. Ranges with other
 * parameters but `q`, and what is no range, count for nothing.
 */
export function negotiate<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  if (accept === undefined) return offered[0];
  const ranges = accept.split(',').flatMap(parseRange);
  const weights = offered.map((type) => weightOf(type, ranges));
  const best = Math.max(...weights);
  return (best > 0 ? offered[weights.indexOf(best)] : undefined) ?? offered[0];
}

function parseRange(text: string): Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const [weight = 'q=1', ...others] = parameters.filter((parameter) => !CHARSET.test(parameter));
  const isWeight = weight.startsWith('q=') && WEIGHT.test(weight.slice(2)) && others.length === 0;
  return isWeight ? [{ type, weight: Number(weight.slice(2)) }] : [];
}

function weightOf(type: string, ranges: readonly Range[]): number {
  const [main] = type.split('/', 1);
  for (const pattern of [type, `${main}/*`, '*/*']) {
    const found = ranges.find((range) => range.type === pattern);
    if (found !== undefined) return found.weight;
  }
  return 0;
}
