import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ApiAnswer } from './api_client.ts';

interface ResponseObject {
  content?: Record<string, unknown>;
}
interface OpenApiDocument {
  paths: Record<string, Record<string, { responses: Record<string, ResponseObject> }>>;
}

interface Checker {
  document: OpenApiDocument;
  ajv: Ajv2020;
}

const checkers = new Map<string, Promise<Checker>>();

async function loadChecker(url: string): Promise<Checker> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'openapi');
  return { document, ajv };
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** The document's path template that a path matches, if any. */
function findTemplate(document: OpenApiDocument, path: string): string | undefined {
  const parts = path.split('?', 1).join('').split('/');
  return Object.keys(document.paths).find((template) => {
    const expected = template.split('/');
    return (
      expected.length === parts.length &&
      expected.every((part, index) => part.startsWith('{') || part === parts[index])
    );
  });
}

/**
 * Fails when a served path's answer is not what the served OpenAPI document says: an undocumented status, another
 * media type, a body of another shape. Paths and methods that are not in the document are not judged.
 */
export async function assertDocumented(
  url: string,
  method: string,
  path: string,
  answer: ApiAnswer,
): Promise<void> {
  if (!checkers.has(url)) checkers.set(url, loadChecker(url));
  const { document, ajv } = await (checkers.get(url) as Promise<Checker>);
  const template = findTemplate(document, path);
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  if (template === undefined || operation === undefined) return;
  const where = `${method} ${template} → ${answer.status}`;
  const response = operation.responses[String(answer.status)];
  if (response === undefined) throw new Error(`${where} is not in the OpenAPI document: ${answer.text}`);
  if (response.content === undefined) {
    if (answer.text !== '') throw new Error(`${where} has a body that is not documented`);
    return;
  }
  const mediaType = (answer.headers.get('content-type') ?? '').split(';', 1).join('');
  if (!(mediaType in response.content)) throw new Error(`${where} has the media type ${mediaType}`);
  const pointer = ['paths', template, method.toLowerCase(), 'responses', String(answer.status), 'content'];
  const ref = `openapi#/${[...pointer, mediaType, 'schema'].map(escapePointer).join('/')}`;
  const validate = ajv.getSchema(ref);
  if (validate === undefined) throw new Error(`no schema at ${ref}`);
  const body = answer.body ?? answer.text;
  if (!validate(body)) {
    throw new Error(`${where} is not as documented: ${ajv.errorsText(validate.errors)}\n${answer.text}`);
  }
}
