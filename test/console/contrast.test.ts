import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const css = readFileSync(new URL('../../src/console/assets/console.css', import.meta.url), 'utf8');
const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map((match) => match[1]);

function coloursOf(block: string): Map<string, string> {
  return new Map(
    [...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', hex = '']) => [name, hex]),
  );
}

/** Relative luminance (WCAG 2.2). */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const TEXTS: [string, string][] = [
  ...['ground', 'surface', 'sunken'].flatMap((ground): [string, string][] =>
    ['text', 'muted', 'link'].map((text) => [text, ground]),
  ),
  ['on-accent', 'accent'],
  ['bad', 'surface'],
  ['good', 'good-ground'],
  ['warn', 'warn-ground'],
  ['bad', 'bad-ground'],
];
/** Borders of controls and the ring of the focus (WCAG 2.2, 1.4.11). */
const PARTS: [string, string][] = [
  ['control-line', 'surface'],
  ['control-line', 'sunken'],
  ['focus', 'surface'],
  ['focus', 'ground'],
];

describe.each([
  ['light', coloursOf(light)],
  ['dark', coloursOf(dark)],
])('in the %s scheme', (_, colours) => {
  const of = (name: string) => colours.get(name) ?? '';

  test('every colour is named', () => {
    expect([...coloursOf(light).keys()].sort()).toEqual([...coloursOf(dark).keys()].sort());
  });

  test.each(TEXTS)('%s on %s is read by everybody (WCAG 2.2 AA)', (text, ground) => {
    expect(contrast(of(text), of(ground))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(PARTS)('%s on %s is seen by everybody', (part, ground) => {
    expect(contrast(of(part), of(ground))).toBeGreaterThanOrEqual(3);
  });
});
