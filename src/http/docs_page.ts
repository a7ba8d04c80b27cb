interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  requestBody?: { content?: Record<string, { schema?: unknown }> };
  responses?: Record<string, { description?: string; content?: Record<string, { schema?: unknown }> }>;
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24 }
h2 { font: 600 1.1rem ui-monospace, monospace; margin: 2.5rem 0 .25rem; border-top: 1px solid #d0d7de; padding-top: 1rem }
h2 b { color: #0a5bcc; margin-right: .5rem } pre { background: #f6f8fa; padding: .75rem; overflow: auto; font-size: .85rem }
td { padding: .15rem 1rem .15rem 0; vertical-align: top } code { font-size: .9em } summary { cursor: pointer }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3 } pre { background: #161b22 } h2 b { color: #6cb0ff } }
`;

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Plain text with its backticked parts set as code. */
function toProse(text: string | undefined): string {
  return escapeHtml(text ?? '').replace(/`([^`]+)`/g, '<code>$1</code>');
}

function schemaBlock(title: string, content: Record<string, { schema?: unknown }> | undefined): string {
  const [schema] = Object.values(content ?? {}).map((media) => media.schema);
  if (schema === undefined) return '';
  const json = escapeHtml(JSON.stringify(schema, null, 2));
  return `<details><summary>${title}</summary><pre>${json}</pre></details>`;
}

function operationSection(method: string, path: string, operation: Operation): string {
  const responses = Object.entries(operation.responses ?? {});
  const rows = responses.map(
    ([status, { description }]) => `<tr><td>${status}</td><td>${toProse(description)}</td></tr>`,
  );
  const [success] = responses;
  return `<h2 id="${escapeHtml(operation.operationId ?? '')}"><b>${method.toUpperCase()}</b>${escapeHtml(path)}</h2>
<p>${toProse(operation.summary)}. ${toProse(operation.description)}</p>
${schemaBlock('Request body', operation.requestBody?.content)}${schemaBlock('Answer', success?.[1].content)}
<table>${rows.join('')}</table>`;
}

/** The OpenAPI document as one page that loads nothing and runs no script. */
export function docsPage(documentText: string): string {
  const { info, paths, components } = JSON.parse(documentText) as {
    info: { title: string; description: string };
    paths: Record<string, Record<string, Operation>>;
    components?: { schemas?: Record<string, unknown> };
  };
  const sections = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => operationSection(method, path, operation)),
  );
  const schemas = Object.entries(components?.schemas ?? {}).map(([name, schema]) =>
    schemaBlock(escapeHtml(name), { json: { schema } }),
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)} API</title><style>${STYLE}</style>
<h1>${escapeHtml(info.title)}</h1><p>${toProse(info.description)} The same as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
${sections.join('\n')}<h2>Schemas</h2>${schemas.join('\n')}</html>`;
}
