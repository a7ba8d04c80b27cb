import * as z from 'zod';
import { REVIEW_LINE_KINDS, REVIEW_WARNING_CODES } from '../../core/review.ts';
import { sha256 } from './common.ts';

const ESCAPES =
  'without control, bidi, invisible or confusable characters: those are escapes such as `\\u{202e}`';

const reviewLine = z
  .strictObject({
    kind: z.enum(REVIEW_LINE_KINDS),
    label: z.string(),
    text: z.string().meta({ description: `the value, texts in quotes; ${ESCAPES}` }),
    path: z
      .string()
      .nullable()
      .meta({ description: `JSON pointer of the value in the action; ${ESCAPES}, and folded when long` }),
    folded: z
      .strictObject({ length: z.int().min(0), sha256 })
      .nullable()
      .meta({
        description:
          'of a text whose middle is left out: characters and SHA-256 of all of it, secrets hidden',
      }),
    depth: z.int().min(0).meta({ description: 'how deep a segment stands in the commands that run it' }),
  })
  .meta({ id: 'ReviewLine' });

const reviewWarning = z
  .strictObject({ code: z.enum(REVIEW_WARNING_CODES), path: z.string().nullable(), text: z.string() })
  .meta({ id: 'ReviewWarning' });

/** What an approver is shown of an action; as it is stored, so it needs no other form. */
export const reviewOutput = z
  .strictObject({
    view_version: z.int().min(1),
    view_hash: sha256.meta({
      description: 'SHA-256 of the canonical JSON of the other members; a vote may carry it',
    }),
    lines: z.array(reviewLine),
    warnings: z.array(reviewWarning),
  })
  .meta({
    id: 'Review',
    description: 'what is shown of the action, rendered from its canonical bytes alone',
  });
