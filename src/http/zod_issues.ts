import type * as z from 'zod';
import type { FaultIssue } from '../core/fault.ts';

/** More wrong places than a person reads are left out. */
const ISSUES_MAX = 50;
/** A longer pointer can only be made of a member's name that the client chose. It is cut to the object's. */
const POINTER_LENGTH_MAX = 512;

type ZodIssue = z.core.$ZodIssue;

/**
 * The wrong places a schema found: pointers (RFC 6901) and reasons in lower case, at most 50. An unknown member is
 * one issue at its own pointer. Of a union the shape that came closest is told. A schema's own message is kept.
 */
export function issuesFromZod(error: z.core.$ZodError): FaultIssue[] {
  return error.issues.flatMap((issue) => issuesOf(issue, [])).slice(0, ISSUES_MAX);
}

function issuesOf(issue: ZodIssue, base: readonly PropertyKey[]): FaultIssue[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, ISSUES_MAX)
      .map((key) => ({ pointer: pointerOf([...path, key]), reason: 'is not a known member' }));
  }
  const closest = issue.code === 'invalid_union' ? closestShape(issue.errors) : undefined;
  if (closest !== undefined) {
    return closest.flatMap((inner) => issuesOf(inner, path));
  }
  return [{ pointer: pointerOf(path), reason: reasonOf(issue.message) }];
}

/** The one shape of a union whose own type was right, if just one: its issues say more than "no shape fits". */
function closestShape(shapes: readonly ZodIssue[][]): ZodIssue[] | undefined {
  const near = shapes.filter(
    (issues) => !issues.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0),
  );
  return near.length === 1 ? near[0] : undefined;
}

/** zod's English messages, such as "Invalid input: expected string, received undefined", in this project's form. */
function reasonOf(message: string): string {
  if (message.endsWith(', received undefined')) {
    return 'is required';
  }
  if (message === 'Invalid input') {
    return 'has none of the allowed forms';
  }
  const reason = message.replace(/^Invalid (input|option|string): /, '');
  return reason.charAt(0).toLowerCase() + reason.slice(1);
}

function pointerOf(path: readonly PropertyKey[]): string {
  let pointer = '';
  for (const step of path) {
    const longer = `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (longer.length > POINTER_LENGTH_MAX) {
      return pointer;
    }
    pointer = longer;
  }
  return pointer;
}
