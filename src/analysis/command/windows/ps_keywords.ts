import { addProblem } from './findings.ts';
import { matchHere, type PsReader, readNested, skipLines, skipSpace } from './ps_reader.ts';

/** Keywords count only with what follows them, since commands may have some of these names. */
const BEFORE_CONDITION = /(?:if|elseif|while|until|for|foreach|switch)(?=\s*[(-])/iy;
const BEFORE_BLOCK =
  /(?:else|do|try|finally|begin|process|end|clean|dynamicparam|default|trap|catch|data)(?=\s*[{[])/iy;
const BEFORE_STATEMENT = /(?:return|throw|exit|break|continue|param)(?=[\s;(){}$'"@[]|$)/iy;
const OPTIONS = /(?:\s*-[a-z]+(?:[ \t]+\d+)?)*/iy;
const FUNCTION = /(?:function|filter|workflow|configuration)\s+([^\s({]+)/iy;
const TYPE = /(?:class|enum)\s+[^\n{]*/iy;
const USING = /using\s+(?:module|assembly|namespace|command|type)\b[^\n;]*/iy;
const CAUGHT_TYPE = /\s*\[[^\n\]]*\](?:\s*,\s*\[[^\n\]]*\])*/y;

/** Moves over a keyword, and what belongs to it, up to the block or statement that follows; false when there is none. */
export function skipKeyword(reader: PsReader): boolean {
  skipLines(reader);
  const { findings } = reader;
  const declared = matchHere(reader, TYPE) ?? matchHere(reader, USING);
  if (declared !== null) {
    reader.at += declared[0].length;
    addProblem(
      findings,
      'hidden_command',
      `what \`${declared[0].split(/\s/, 1)[0]}\` brings in is not known`,
    );
    return true;
  }
  const named = matchHere(reader, FUNCTION);
  if (named !== null) {
    findings.constructs.add('function');
    reader.at += named[0].length;
    skipSpace(reader);
    if (reader.text[reader.at] === '(') readNested(reader, ')');
    return true;
  }
  return skipControlFlow(reader);
}

function skipControlFlow(reader: PsReader): boolean {
  const condition = matchHere(reader, BEFORE_CONDITION);
  const keyword = condition ?? matchHere(reader, BEFORE_BLOCK) ?? matchHere(reader, BEFORE_STATEMENT);
  if (keyword === null) return false;
  reader.findings.constructs.add('control_flow');
  reader.at += keyword[0].length;
  if (/^(?:catch|trap)$/i.test(keyword[0])) reader.at += matchHere(reader, CAUGHT_TYPE)?.[0].length ?? 0;
  if (condition !== null) reader.at += matchHere(reader, OPTIONS)?.[0].length ?? 0;
  skipLines(reader);
  if (condition !== null && reader.text[reader.at] === '(') readNested(reader, ')');
  return true;
}
