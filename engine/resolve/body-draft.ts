/** Owns the built-in endpoints' bodies: `/wake` and `/agent` take a draft as it is. */

import { type FieldName, fieldsOf } from '../config/fields.ts'
import type { HookRequest } from './decision.ts'
import { dayMs } from './dedupe.ts'
import type { Draft } from './draft.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import { RefusalError } from './refusal.ts'

/** Unknown fields are ignored. @throws RefusalError `INVALID_BODY`, or `INVALID_FIELD` for the header */
export function parseBodyDraft(
  kind: 'wake' | 'agent',
  { payload: body, headers }: Pick<HookRequest, 'payload' | 'headers'>,
): Draft {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new RefusalError('INVALID_BODY', 'the body must be a JSON object', [
      { pointer: '', message: 'must be a JSON object' },
    ])
  }
  const source = body as Readonly<Record<string, unknown>>
  const fields: Partial<Record<FieldName, unknown>> = {}
  for (const name of fieldsOf[kind]) if (Object.hasOwn(source, name)) fields[name] = source[name]
  const label = kind === 'wake' ? 'A text sent to /wake' : 'A message sent to /agent'
  const draft = { kind, fields, label, trusted: false }
  const key = idempotencyKeyOf(headers)
  return key === undefined ? draft : { ...draft, dedupe: { key, windowMs: dayMs, isGiven: true } }
}
