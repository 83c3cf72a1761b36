/**
 * Renders the keys of an action. Requests with the same key of `coalesce` become one run. An action with a known key of
 * `dedupe` was seen before; that key is the mapping's, else the id of the delivery, else the sender's.
 */

import { isLiteral, plainText } from '../../boundary/segment.ts'
import { dayMs, givenDedupe, keyInHeaders } from '../admit/idempotency-key.ts'
import type { Dedupe } from '../model/decision.ts'
import type { EffectivePolicy } from '../model/effective-policy.ts'
import { AbsentValueError, createOutput, type Meter } from '../model/output.ts'
import type { Expression, KeyField, Program, Template } from '../model/program.ts'
import type { TraceRecorder } from '../model/recorder.ts'
import type { Scope } from '../model/scope.ts'
import { evaluateAt, locateError } from './evaluate.ts'
import { fromResult } from './field-value.ts'

/** The inputs for rendering one action. */
export interface Rendering {
  readonly program: Program
  readonly scope: Scope
  readonly meter: Meter
  /** The policy of the request's endpoint. */
  readonly endpointPolicy: EffectivePolicy | undefined
  readonly recorder: TraceRecorder | undefined
}

/** The fields of a mapping that have a key. */
export type KeyOwner = 'coalesce' | 'dedupe'

type Key = string | undefined

/**
 * Returns undefined if the key gives nothing. That includes a template with an absent or blank value, since otherwise
 * all requests without the value would share a key. In a `strict` mapping an absent value is refused as anywhere.
 * @throws RefusalError
 */
export async function renderKey(owner: KeyOwner, key: KeyField, rendering: Rendering): Promise<Key> {
  // The rendered key replaces this one. If none is rendered, an explanation says so.
  rendering.recorder?.onField(`${owner}.key`, key.kind, '')
  const written =
    key.kind === 'template'
      ? renderTemplate(owner, key.render, rendering)
      : await evaluateKey(owner, key.evaluate, rendering)
  const trimmed = written?.trim() ?? ''
  return trimmed === '' ? undefined : trimmed
}

function renderTemplate(owner: KeyOwner, render: Template, rendering: Rendering): Key {
  const { program, scope, meter, recorder } = rendering
  const output = createOutput(meter, 'blank')
  try {
    render(scope, output)
  } catch (error) {
    if (error instanceof AbsentValueError && (error.isBlank || !program.strict)) return undefined
    throw locateError(error, [owner, 'key'])
  }
  const text = plainText(output.segments)
  // A key without a value is only its prefix, because a condition left all values out, as for a session key.
  if (output.segments.every(isLiteral) && text.trim().endsWith(':')) return undefined
  recorder?.onField(`${owner}.key`, 'template', text, output.segments)
  return text
}

async function evaluateKey(
  owner: KeyOwner,
  evaluate: Expression,
  { scope, meter, recorder }: Rendering,
): Promise<Key> {
  const value = fromResult('message', await evaluateAt([owner, 'key'], evaluate, scope), meter)
  if (typeof value !== 'string') return undefined
  recorder?.onField(`${owner}.key`, 'expression', value)
  return value
}

/** Returns the key of one of several actions of a request, by its position. */
export function keyAt(key: string, place: number): string {
  return JSON.stringify([key, place])
}

/**
 * `written` is the mapping's rendered key. Returns undefined without a key, and then the action counts each time.
 * @throws RefusalError `INVALID_FIELD` for an invalid key in a header
 */
export function dedupeOf(
  { key, windowMs }: NonNullable<Program['dedupe']>,
  written: Key,
  rendering: Rendering,
): Dedupe | undefined {
  const text = key === undefined ? deliveryKey(rendering) : written
  const window = windowMs ?? horizonOf(rendering)
  if (text !== undefined) return { key: text, windowMs: window, isGiven: false }
  const senderKeyValue = senderKey(rendering)
  return senderKeyValue === undefined ? undefined : givenDedupe(senderKeyValue, window)
}

/** Adds the position to the sender's key if a request has several actions. */
function senderKey({ scope: { request, index }, recorder }: Rendering): string | undefined {
  const found = keyInHeaders(request.headers)
  if (found === undefined) return undefined
  const { key, path } = found
  recorder?.onField('dedupe.key', 'default', key, [{ value: key, path }])
  return index === undefined ? key : keyAt(key, index)
}

function horizonOf({ endpointPolicy }: Rendering): number {
  const { verify, catchUp } = endpointPolicy ?? {}
  return Math.max(dayMs, verify?.value.retryHorizonMs ?? 0, catchUp?.value ?? 0)
}

/** Adds the position of the `forEach` element, because one delivery may cause several actions. */
function deliveryKey({ endpointPolicy, scope, recorder }: Rendering): string | undefined {
  const provider = endpointPolicy?.verify?.value
  if (provider === undefined) return undefined
  const { request, memory, index } = scope
  memory.delivery ??= { id: provider.deliveryIdOf(request)?.trim() }
  const { id } = memory.delivery
  if (!id) {
    recorder?.onField('dedupe.key', 'default', '')
    return undefined
  }
  return index === undefined ? id : keyAt(id, index)
}
