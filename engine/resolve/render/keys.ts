/**
 * The keys that a mapping renders for each action. By that of `coalesce`, requests become one run. By that of `dedupe` an action
 * is known to have been seen before: the key that the mapping says, else the id of the delivery, else the key that the sender gives.
 */

import { createHash } from 'node:crypto'
import { isLiteral, plainText } from '../../boundary/segment.ts'
import { givenDedupe, keyInHeaders } from '../admit/idempotency-key.ts'
import type { Dedupe } from '../decision.ts'
import type { EffectivePolicy } from '../effective-policy.ts'
import { evaluateAt, locateError } from '../evaluate.ts'
import type { Recorder } from '../explain/recorder.ts'
import type { Expression, KeyField, Program, Template } from '../program.ts'
import type { Scope } from '../scope.ts'
import { fromResult } from './field-value.ts'
import { AbsentValueError, createOutput, type Meter } from './output.ts'

/** What one action is rendered with. */
export interface Rendering {
  readonly program: Program
  readonly scope: Scope
  readonly meter: Meter
  /** Of its endpoint. */
  readonly endpointPolicy: EffectivePolicy | undefined
  readonly recorder: Recorder | undefined
}

/** The fields of a mapping that have a key. */
export type KeyOwner = 'coalesce' | 'dedupe'

type Key = string | undefined

/**
 * Nothing where the key gives nothing. That includes a template of which any value is absent or blank, since all requests
 * without it would else be one; in a `strict` mapping an absent one is refused as anywhere.
 * @throws RefusalError
 */
export async function renderKey(owner: KeyOwner, key: KeyField, rendering: Rendering): Promise<Key> {
  // What is rendered takes its place; where nothing is, an explanation says so.
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
  const output = createOutput(meter, { exact: scope.exact, strict: 'blank' })
  try {
    render(scope, output)
  } catch (error) {
    if (error instanceof AbsentValueError && (error.isBlank || !program.strict)) return undefined
    throw locateError(error, [owner, 'key'])
  }
  const text = plainText(output.segments)
  // As in a session key: where its values begin it ends, because a condition left them all out.
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

/** The key of one among several that were made at once, each at its place. */
export function keyAt(key: string, place: number): string {
  return JSON.stringify([key, place])
}

/** In UTF-16 units. Keys stand in indexes and are shown; texts of any length come out of payloads. */
const longestKey = 512
const shownOfLonger = 64

/**
 * The key itself, or for one that is longer, or is no text that UTF-8 can write, how it begins and its SHA-256: two of
 * them are never the same by being cut.
 */
export function boundedKey(key: string): string {
  if (key.length <= longestKey && key.isWellFormed()) return key
  // In the very units of the text: UTF-8 would write one sign for any half of a pair.
  const digest = createHash('sha256').update(key, 'utf16le').digest('hex')
  return `${key.slice(0, shownOfLonger).toWellFormed()}… sha256:${digest}`
}

/** For how long a key is known at least, where nothing says. */
export const dayMs = 86_400_000

/**
 * `written`: the mapping's key as it was rendered. Nothing where there is no key: the action then counts each time.
 * @throws RefusalError `INVALID_FIELD` for a header that holds no key
 */
export function dedupeOf(
  { key, windowMs }: NonNullable<Program['dedupe']>,
  written: Key,
  rendering: Rendering,
): Dedupe | undefined {
  const text = key === undefined ? deliveryKey(rendering) : written
  const window = windowMs ?? horizonOf(rendering)
  if (text !== undefined) return { key: text, windowMs: window, isGiven: false }
  const given = senderKey(rendering)
  return given === undefined ? undefined : givenDedupe(given, window)
}

/** Of several actions of one request each has its place. */
function senderKey({ scope: { request, index }, recorder }: Rendering): string | undefined {
  const given = keyInHeaders(request.headers)
  if (given === undefined) return undefined
  const { key, path } = given
  recorder?.onField('dedupe.key', 'default', key, [{ value: key, path }])
  return index === undefined ? key : keyAt(key, index)
}

function horizonOf({ endpointPolicy }: Rendering): number {
  return Math.max(dayMs, endpointPolicy?.verify?.value.retryHorizonMs ?? 0)
}

/** One delivery may be many actions: each element of `forEach` has its place. */
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
