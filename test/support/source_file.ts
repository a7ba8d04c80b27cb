import { parseSync, Visitor } from 'oxc-parser';

/** One import, export-from, dynamic import or import type. */
export interface SourceImport {
  specifier: string;
  /** The names taken from it, `*` for all of it. */
  names: string[];
}

export interface SourceFunction {
  name: string;
  firstLine: number;
  lines: number;
}

/** What the architecture's rules look at in one file. `path` is relative to the repository, with slashes. */
export interface SourceFile {
  path: string;
  lines: number;
  imports: SourceImport[];
  functions: SourceFunction[];
  /** Uses of the process, clock, randomness, timers and network, as written: `process.env`, `Date.now`. */
  effects: string[];
}

interface Node {
  type: string;
  start: number;
  end: number;
}

const EFFECT_GLOBALS: readonly string[] = [
  'globalThis',
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'performance',
  'crypto',
  'WebSocket',
];

/** Parses a TypeScript file; throws if it has a syntax error. */
export function parseSourceFile(path: string, text: string): SourceFile {
  const { program, module, errors } = parseSync(path, text);
  if (errors.length > 0) {
    throw new Error(`\`${path}\` does not parse: ${errors[0]?.message}`);
  }
  const imports: SourceImport[] = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      names: entries.map(
        ({ importName }) => importName.name ?? (importName.kind === 'Default' ? 'default' : '*'),
      ),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, importName }) =>
        moduleRequest === null ? [] : [{ specifier: moduleRequest.value, names: [importName.name ?? '*'] }],
      ),
    ),
  ];
  const file: SourceFile = { path, lines: countLines(text), imports, functions: [], effects: [] };
  new Visitor(collectorOf(file, text)).visit(program);
  return file;
}

/** Lines of a file; a line break at the end starts no further line. */
function countLines(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}

function collectorOf(file: SourceFile, text: string): ConstructorParameters<typeof Visitor>[0] {
  const addFunction = (node: Node, name: string | undefined) => {
    const firstLine = text.slice(0, node.start).split('\n').length;
    const lines = text.slice(node.start, node.end).split('\n').length;
    file.functions.push({ name: name ?? 'a function', firstLine, lines });
  };
  const addImport = (source: { type: string; value?: unknown }) => {
    const specifier = typeof source.value === 'string' ? source.value : '(computed)';
    file.imports.push({ specifier, names: ['*'] });
  };
  return {
    FunctionDeclaration: (node) => addFunction(node, node.id?.name),
    FunctionExpression: (node) => addFunction(node, node.id?.name),
    ArrowFunctionExpression: (node) => addFunction(node, undefined),
    ImportExpression: (node) => addImport(node.source),
    TSImportType: (node) => addImport(node.source),
    TSExternalModuleReference: (node) => addImport(node.expression),
    CallExpression: ({ callee, arguments: [first] }) => {
      if (callee.type === 'Identifier' && callee.name === 'require' && first !== undefined) {
        addImport(first);
      }
    },
    NewExpression: ({ callee, arguments: given }) => {
      if (callee.type === 'Identifier' && callee.name === 'Date' && given.length === 0) {
        file.effects.push('new Date()');
      }
    },
    Identifier: ({ name, start, end }) => {
      const isMemberName = text[start - 1] === '.' || /^\s*\??:/.test(text.slice(end, end + 9));
      if (EFFECT_GLOBALS.includes(name) && !isMemberName) {
        file.effects.push(name);
      }
    },
    MemberExpression: (node) => {
      const written = text.slice(node.start, node.end).replaceAll(/\s|\?/g, '');
      const member = /\b(process)(?:\.env|\[['"`]env)|\bDate\.now$|\bMath\.random$/.exec(written);
      if (member !== null) {
        file.effects.push(member[1] === 'process' ? 'process.env' : member[0]);
      }
    },
    VariableDeclarator: ({ id, init }) => {
      if (id.type === 'ObjectPattern' && init?.type === 'Identifier' && init.name === 'process') {
        const taken = id.properties.map((property) => text.slice(property.start, property.end));
        if (taken.some((property) => /^(env\b|\.\.\.)/.test(property))) {
          file.effects.push('process.env');
        }
      }
    },
  };
}
