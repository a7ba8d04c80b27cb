import { type ReviewInput, renderReview } from '../../../src/analysis/review/render_review.ts';
import { createMasker } from '../../../src/analysis/secrets/masker.ts';
import type { ToolCall } from '../../../src/core/action.ts';
import { canonicalAction } from '../../../src/core/canonical_action.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Review, ReviewFacts, ReviewLineKind, ReviewWarningCode } from '../../../src/core/review.ts';

export const masker = createMasker('a key of the tests');

export const NO_FACTS: ReviewFacts = {
  registered: true,
  command: null,
  pathParameters: [],
  hostParameters: [],
  workspaceRoot: null,
};

export const SHELL_FACTS: ReviewFacts = {
  ...NO_FACTS,
  command: { parameter: 'command', argvParameter: 'argv' },
};

export function callOf(parameters: JsonObject, more: Partial<ToolCall> = {}): ToolCall {
  return { tool: 'crm', action: 'note', resource: null, mutates_state: true, parameters, ...more };
}

export function shellCall(command: string, more: JsonObject = {}): ToolCall {
  return callOf({ command, ...more }, { tool: 'shell', action: 'exec' });
}

/** The view of a call that its tool knows nothing more of, unless said. */
export function viewOf(call: ToolCall, more: Partial<ReviewInput> = {}): Review {
  return renderReview({
    canonicalAction: canonicalAction(call),
    originalAction: null,
    resolved: { tool: call.tool, action: call.action },
    facts: NO_FACTS,
    secretParameters: [],
    masker,
    ...more,
  });
}

export function viewOfShell(command: string, more: JsonObject = {}): Review {
  return viewOf(shellCall(command, more), { facts: SHELL_FACTS });
}

/** Label and text of the lines of some kinds. */
export function linesOf({ lines }: Review, ...kinds: ReviewLineKind[]): [label: string, text: string][] {
  return lines.filter(({ kind }) => kinds.includes(kind)).map(({ label, text }) => [label, text]);
}

/** Path and text of the warnings of a code. */
export function warningsOf(
  { warnings }: Review,
  code: ReviewWarningCode,
): [path: string | null, text: string][] {
  return warnings.filter((warning) => warning.code === code).map(({ path, text }) => [path, text]);
}

/** Every text of a view, labels and pointers included. */
export function textsOf({ lines, warnings }: Review): string[] {
  return [
    ...lines.flatMap(({ label, text, path }) => [label, text, path ?? '']),
    ...warnings.flatMap(({ text, path }) => [text, path ?? '']),
  ];
}

/** What no text of a view may hold. */
export const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}]|(?! )\p{Zs}/u;
