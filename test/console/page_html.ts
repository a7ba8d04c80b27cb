// Reads the console's own HTML, strictly: what is not of the few forms that its pages have is an error. So foreign
// markup that came through unescaped is found as markup, whatever it says.

export interface Tag {
  name: string;
  attributes: ReadonlyMap<string, string>;
}

export type Piece = { kind: 'open' | 'close'; tag: Tag } | { kind: 'text'; text: string };

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const OPEN = /^<([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)\s*\/?>/;
const CLOSE = /^<\/([a-z][a-z0-9]*)>/;
const ATTRIBUTE = / ([a-z-]+)(?:="([^"<>]*)")?/g;

/** @throws Error for an entity that the console does not write, and for an ampersand that is none. */
function decode(text: string): string {
  return text.replace(/&([^;&\s]{1,8};)?/g, (whole, body?: string) => {
    const decoded = body === undefined ? undefined : NAMED[body.slice(0, -1)];
    if (decoded === undefined) throw new Error(`a bare ampersand: ${whole}`);
    return decoded;
  });
}

/** @throws Error for whatever is not well-formed in the console's way. */
export function readHtml(html: string): Piece[] {
  const pieces: Piece[] = [];
  let rest = html.replace(/^<!doctype html>/i, '');
  while (rest !== '') {
    const end = rest.indexOf('<');
    if (end !== 0) {
      const text = end === -1 ? rest : rest.slice(0, end);
      if (text.includes('>')) throw new Error(`a bare bracket: ${text.slice(0, 100)}`);
      pieces.push({ kind: 'text', text: decode(text) });
      rest = rest.slice(text.length);
      continue;
    }
    const [open, close] = [OPEN.exec(rest), CLOSE.exec(rest)];
    const found = open ?? close;
    if (found === null) throw new Error(`no tag of the console: ${rest.slice(0, 200)}`);
    const attributes = new Map(
      [...(open?.[2] ?? '').matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, decode(value)]),
    );
    pieces.push({ kind: open === null ? 'close' : 'open', tag: { name: found[1] ?? '', attributes } });
    rest = rest.slice(found[0].length);
  }
  return pieces;
}

function tagsOf(pieces: readonly Piece[]): Tag[] {
  return pieces.flatMap((piece) => (piece.kind === 'open' ? piece.tag : []));
}

/** All text of a page as a reader has it, white space in one, and none before a mark that ends something. */
export function textOf(html: string): string {
  const texts = readHtml(html).map((piece) => (piece.kind === 'text' ? piece.text : ' '));
  return texts
    .join('')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,;:])/g, '');
}

/** What of a page could run, be framed or lead elsewhere: nothing but the console's own. */
export function findForeignMarkup(html: string): string[] {
  return tagsOf(readHtml(html)).flatMap(({ name, attributes }) => [
    ...(['style', 'iframe', 'object', 'embed', 'img', 'base', 'svg', 'math'].includes(name) ? [name] : []),
    ...(name === 'script' && !(attributes.get('src') ?? '').startsWith('/console/assets/') ? ['script'] : []),
    ...[...attributes].flatMap(([attribute, value]) => {
      if (attribute.startsWith('on') || ['style', 'srcdoc', 'formaction'].includes(attribute))
        return [attribute];
      const isAddress = ['href', 'action', 'src'].includes(attribute);
      return isAddress && !/^(\/console(?:[/?]|$)|#[a-z-]+$)/.test(value) ? [`${attribute}=${value}`] : [];
    }),
  ]);
}

/** The part of a page that an element with an id is. */
export function partOf(html: string, id: string): string {
  const at = html.search(new RegExp(`<[a-z0-9]+[^>]* id="${id}"|<[a-z0-9]+ id="${id}"`));
  if (at === -1) throw new Error(`nothing has the id \`${id}\``);
  const name = /^<([a-z0-9]+)/.exec(html.slice(at))?.[1] ?? '';
  let depth = 0;
  for (const { 0: tag, index } of html.slice(at).matchAll(new RegExp(`<(/?)${name}(?=[ >])[^>]*>`, 'g'))) {
    depth += tag.startsWith('</') ? -1 : 1;
    if (depth === 0) return html.slice(at, at + index + tag.length);
  }
  throw new Error(`\`${id}\` does not end`);
}

export function has(html: string, id: string): boolean {
  return new RegExp(`<[a-z0-9]+[^>]* id="${id}"`).test(html);
}

export interface ReadForm {
  action: string;
  /** What a browser without scripts would send, untouched. */
  fields: Record<string, string>;
}

/** A form as a browser has it when the page has loaded. */
export function formOf(html: string, id: string): ReadForm {
  const part = partOf(html, id);
  const [form, ...tags] = tagsOf(readHtml(part));
  const fields: Record<string, string> = {};
  for (const { name, attributes } of tags) {
    const field = attributes.get('name');
    if (name !== 'input' || field === undefined || attributes.has('disabled')) continue;
    const isChoice = ['radio', 'checkbox'].includes(attributes.get('type') ?? '');
    if (!isChoice || attributes.has('checked')) fields[field] = attributes.get('value') ?? '';
  }
  for (const [, opened = '', text = ''] of part.matchAll(/<textarea([^>]*)>([^<]*)<\/textarea>/g)) {
    const field = / name="([^"]*)"/.exec(opened)?.[1];
    // A line break at the very beginning is not part of the text (HTML §13.1.2.6).
    if (field !== undefined) fields[field] = decode(text).replace(/^\n/, '');
  }
  return { action: form?.attributes.get('action') ?? '', fields };
}

export interface ReadButton {
  isDisabled: boolean;
  /** What the button is described by. */
  why: string | null;
}

export function buttonOf(html: string, id: string): ReadButton {
  const [button] = tagsOf(readHtml(partOf(html, id)));
  const describedBy = button?.attributes.get('aria-describedby');
  return {
    isDisabled: button?.attributes.has('disabled') ?? false,
    why: describedBy === undefined ? null : textOf(partOf(html, describedBy)).trim(),
  };
}

/** The ids of the approvals that a list of the queue has, in order. */
export function rowsOf(html: string, list: 'mine' | 'others'): string[] {
  return [...partOf(html, list).matchAll(/<li id="row-(apr_[0-9a-f-]+)"/g)].map(([, id = '']) => id);
}
