import { mkdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { JsonObject } from '../../core/json.ts';
import { OperatorError } from '../../core/operator_error.ts';
import { parseStrictJson, StrictJsonError } from '../../core/strict_json.ts';
import {
  type ImportedOperation,
  type McpManifest,
  parseMcpManifest,
  toOperation,
} from '../../policy/mcp_manifest.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { oneLine } from '../config_values.ts';
import { describeInput, readJsonInput } from '../input_file.ts';
import { FolderRefused, findPolicyDirectory } from '../policy/folder.ts';
import { FILE_BYTES_MAX } from '../policy/folder_files.ts';
import { type Terminal, toJsonText, visible } from '../terminal.ts';
import { createFile, replaceFile } from '../write_file.ts';
import { formatImport, type Import, importToJson } from './imported.ts';
import { checkWithFile } from './rehearsal.ts';

const USAGE = 'aegis tools import MANIFEST|- [--tool NAME] [--out FILE|-] [--force] [--json]';
/** What is a tool's name and the name of its file, on any system. */
const TOOL_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `aegis tools import`: registers the tools of an MCP server, beside the policies. Nothing is permitted by it. */
export const importTools: Command = {
  usage: USAGE,
  summary:
    "makes a tool file of an MCP server's `tools/list` answer, in the tools folder of AEGIS_POLICY_DIR; 1 when the policies would not load with it",
  run: async (args, terminal) => {
    const options = {
      tool: { type: 'string' },
      out: { type: 'string' },
      force: { type: 'boolean' },
      json: { type: 'boolean' },
    } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 1, max: 1 });
    const manifest = await readManifest(positionals[0] ?? '');
    const tool = findToolName(values.tool, manifest.serverName);
    const operations = manifest.tools.map(toOperation);
    const directory = findPolicyDirectory(undefined);
    const out = values.out ?? join(directory, 'tools', `${tool}.json`);
    const text = toFileText(tool, operations);
    await checkWithFile(directory, placeInFolder(directory, out, tool), text).catch((error: unknown) => {
      if (error instanceof FolderRefused)
        terminal.complain('nothing was written: with it the policies do not load');
      throw error;
    });
    const made: Import = { tool, out, operations, goesOn: manifest.goesOn };
    if (out === '-') {
      terminal.print(text.trimEnd());
      for (const line of formatImport(made)) terminal.complain(line);
      return 0;
    }
    await writeToolFile(out, text, values.force === true);
    report(terminal, made, values.json === true);
    return 0;
  },
};

async function readManifest(path: string): Promise<McpManifest> {
  const parsed = parseMcpManifest(await readJsonInput(path, FILE_BYTES_MAX));
  if (parsed.kind === 'refused') {
    const [first, ...others] = parsed.issues;
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    throw new OperatorError(visible(`${describeInput(path)} is no list of MCP tools: ${first}${more}`));
  }
  if (parsed.manifest.tools.length === 0) throw new OperatorError(`${describeInput(path)} lists no tool`);
  return parsed.manifest;
}

function findToolName(given: string | undefined, serverName: string | null): string {
  const name = given ?? serverName;
  if (name === null) {
    throw new OperatorError(
      'the manifest does not say what the server is called. Name it with `--tool NAME`',
    );
  }
  if (TOOL_NAME.test(name)) return name.toLowerCase();
  const whose = given === undefined ? 'the server calls itself' : '`--tool` is';
  throw new OperatorError(
    `${whose} \`${oneLine(name)}\` but a tool's name is 1 to 64 of \`A-Z a-z 0-9 . _ -\`, a letter or digit first. Name it with \`--tool NAME\``,
  );
}

/** The tool file as it is written. @throws OperatorError when it has more than the loader reads of one file. */
function toFileText(tool: string, operations: readonly ImportedOperation[]): string {
  const file: JsonObject = {
    tool,
    doc: "imported from an MCP server's list of tools; the facts are the server's own hints",
    operations: Object.fromEntries(operations.map(({ action, members }) => [action, members])),
  };
  const text = `${JSON.stringify(file, null, 2)}\n`;
  try {
    parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const reasons = error.issues.map(({ pointer, reason }) => `${reason} at \`${pointer}\``).join('; ');
    throw new OperatorError(
      visible(`${operations.length} tools do not fit one tool file (${reasons}). Import them in parts`),
    );
  }
  return text;
}

/** Where in the policy folder a file is, or would be put. */
function placeInFolder(directory: string, out: string, tool: string): string {
  const isInside = out.endsWith('.json') && resolve(dirname(out)) === resolve(directory, 'tools');
  return join('tools', isInside ? basename(out) : `${tool}.json`);
}

async function writeToolFile(path: string, text: string, force: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (force) return replaceFile(path, text);
  if (!(await createFile(path, text))) {
    throw new OperatorError(`\`${oneLine(path)}\` is there already. Give \`--force\` to replace it`);
  }
}

function report(terminal: Terminal, made: Import, asJson: boolean): void {
  if (asJson) terminal.print(toJsonText(importToJson(made)));
  else for (const line of formatImport(made)) terminal.print(line);
}
