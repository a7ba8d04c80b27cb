import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../src/core/action.ts';
import { computeActionHash } from '../../src/core/action_hash.ts';
import { canonicalAction } from '../../src/core/canonical_action.ts';
import { readJsonVector } from './vectors.ts';

interface Vector {
  name: string;
  tool_call: ToolCall;
  canonical: string;
  action_hash: string;
}

const { vectors } = readJsonVector<{ vectors: Vector[] }>('aegis-jcs-1/canonical-actions.json');

const call: ToolCall = {
  tool: 'stripe',
  action: 'refund',
  resource: 'ch_123',
  mutates_state: true,
  parameters: { amount: 1200, currency: 'usd' },
};

describe('the canonical action', () => {
  it.each(vectors)('equals aegis-jcs-1: $name', ({ tool_call, canonical, action_hash }) => {
    expect(canonicalAction(tool_call)).toBe(canonical);
    expect(computeActionHash(tool_call)).toBe(action_hash);
  });

  it('is exactly the five members, whatever else the object has', () => {
    const more = { ...call, context: { source_trust: 'untrusted' }, tool_facts: 1 };
    expect(canonicalAction(more)).toBe(canonicalAction(call));
    expect(Object.keys(JSON.parse(canonicalAction(call)))).toStrictEqual([
      'action',
      'mutates_state',
      'parameters',
      'resource',
      'tool',
    ]);
  });

  it('hashes tool and action exactly as sent', () => {
    const hashes = ['stripe', 'Stripe', ' stripe', '%73tripe'].map((tool) =>
      computeActionHash({ ...call, tool }),
    );
    expect(new Set(hashes)).toHaveProperty('size', 4);
  });

  it('tells a null resource from the text null', () => {
    expect(computeActionHash({ ...call, resource: null })).not.toBe(
      computeActionHash({ ...call, resource: 'null' }),
    );
  });

  it('refuses an action that lacks a member instead of leaving it out', () => {
    const { resource: _, ...partial } = call;
    expect(() => canonicalAction(partial as ToolCall)).toThrow(TypeError);
  });
});
