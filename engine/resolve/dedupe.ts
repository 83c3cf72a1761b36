/**
 * What makes an action one that was seen before: the key that its mapping says, else the id of its delivery, else the key
 * that the sender gives.
 */

import type { Dedupe } from './decision.ts'
import { givenDedupe, keyInHeaders } from './idempotency-key.ts'
import { keyAt, type Rendering, renderKey } from './key.ts'
import type { Program } from './program.ts'

/** For how long a key is known at least, where nobody says. */
export const dayMs = 86_400_000

/**
 * Nothing where the key gives nothing: the action then counts each time.
 * @throws RefusalError; `INVALID_FIELD` for a header that holds no key
 */
export async function renderDedupe(
  { key, windowMs }: NonNullable<Program['dedupe']>,
  rendering: Rendering,
): Promise<Dedupe | undefined> {
  const text = key === undefined ? deliveryKey(rendering) : await renderKey('dedupe', key, rendering)
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
