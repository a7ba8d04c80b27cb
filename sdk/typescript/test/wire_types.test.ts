import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../../test/support/test_service.ts';

interface Schema {
  properties: Record<string, unknown>;
}

let service: TestService;
let schemas: Record<string, Schema>;
beforeAll(async () => {
  service = await startTestService();
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    components: { schemas: Record<string, Schema> };
  };
  schemas = document.components.schemas;
});
afterAll(() => service.close());

const WIRE = new URL('../src/wire.ts', import.meta.url);
const REVIEW = new URL('../src/wire_review.ts', import.meta.url);
const ACTION = new URL('../../../src/core/action.ts', import.meta.url);

/** The interfaces of a source file, with the names of their members. */
function readInterfaces(file: URL): Map<string, string[]> {
  const interfaces = new Map<string, string[]>();
  for (const statement of parseSync('a.ts', readFileSync(file, 'utf8')).program.body) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type === 'TSInterfaceDeclaration') {
      const own = declared.body.body.map((member) =>
        member.type === 'TSPropertySignature' && member.key.type === 'Identifier'
          ? member.key.name
          : member.type,
      );
      const inherited = declared.extends.flatMap(({ expression }) =>
        expression.type === 'Identifier' ? (interfaces.get(expression.name) ?? []) : [],
      );
      interfaces.set(declared.id.name, [...inherited, ...own]);
    }
  }
  return interfaces;
}

const types = new Map([ACTION, WIRE, REVIEW].flatMap((file) => [...readInterfaces(file)]));

test.each([
  ['Approval', 'Approval'],
  ['AuthorizeAnswer', 'Decision'],
  ['KeyRecord', 'Key'],
  ['CreatedKey', 'CreatedKey'],
  ['KeyList', 'KeyPage'],
  ['ConsumeAnswer', 'Consumed'],
  ['Review', 'Review'],
  ['ReviewLine', 'ReviewLine'],
  ['ReviewWarning', 'ReviewWarning'],
  ['Outcome', 'Outcome'],
  ['Vote', 'Vote'],
  ['Edit', 'Edit'],
  ['ToolCall', 'ToolCall'],
  ['ToolCallInput', 'ToolCallInput'],
  ['AuthorizeContext', 'ContextInput'],
  ['AuthorizeInput', 'AuthorizeRequest'],
  ['ApproveInput', 'ApproveRequest'],
  ['RejectInput', 'RejectRequest'],
  ['EditInput', 'EditRequest'],
  ['KeyInput', 'CreateKeyRequest'],
])('the type %s has the members of the served schema %s', (type, schema) => {
  const served = Object.keys(schemas[schema]?.properties ?? {});
  // The client computes the hash itself.
  const sent = schema === 'AuthorizeRequest' ? served.filter((name) => name !== 'action_hash') : served;
  expect(types.get(type)?.toSorted()).toEqual(sent.toSorted());
});
