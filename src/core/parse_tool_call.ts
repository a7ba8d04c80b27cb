import type { ToolCall } from './action.ts';

/**
 * A tool call read back from canonical text that this service made: what was approved, never a live object
 * (EXACT BYTES).
 */
export function parseToolCall(canonicalAction: string): ToolCall {
  return JSON.parse(canonicalAction) as ToolCall;
}
