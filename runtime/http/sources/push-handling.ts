/** Hands requests to the source that has taken over their endpoint, and waits for it within bounds. */

import type { ServerResponse } from 'node:http'
import type { Timers } from '@reveille/engine'
import { isPluginError } from '@reveille/kit'
import { SenderGone } from '../body/read-body.ts'
import { type Concluded, type Refused, type RequestContext, refused } from '../request-context.ts'

/** Handles a request that was pushed to a source. Resolves when success may be replied; a rejection makes the sender try again. */
export type PushHandler = (body: unknown) => Promise<void>

type PushOutcome = Concluded['outcome']

export interface PushHandlingOptions {
  readonly timers: Timers
  /** Aborted when the gateway begins to drain: every wait ends. */
  readonly draining: AbortSignal
}

/** Google waits ten minutes at most for the reply to a push: https://cloud.google.com/pubsub/docs/push */
const maxMs = 300_000
/** Maximum number of pushes to one endpoint that a source is handling at a time. */
export const maxInProgress = 100

export function createPushHandling({ timers, draining }: PushHandlingOptions) {
  /** By endpoint: the pushes that a source is still handling, whether their senders still wait or not. */
  const inProgress = new Map<string, number>()

  /** @throws SenderGone */
  return async function handlePush(
    { endpoint = '', outgoing }: RequestContext,
    pushHandler: PushHandler,
    body: unknown,
  ): Promise<PushOutcome> {
    const count = inProgress.get(endpoint) ?? 0
    if (count >= maxInProgress) return refusedBySource('the source has too many to do')
    inProgress.set(endpoint, count + 1)
    const handled = outcomeOf(pushHandler, body).finally(() => release(endpoint))
    return firstOf(handled, outgoing)
  }

  function release(endpoint: string): void {
    const left = (inProgress.get(endpoint) ?? 0) - 1
    if (left > 0) inProgress.set(endpoint, left)
    else inProgress.delete(endpoint)
  }

  /** The first end counts. @throws SenderGone where no sender is left to reply to */
  function firstOf(handled: Promise<PushOutcome>, outgoing: ServerResponse): Promise<PushOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<PushOutcome>()
    const late = refusedBySource(`the source was not done within ${maxMs / 1000} s`)
    const timer = timers.setTimeout(() => resolve(late), maxMs)
    const onDrain = () => resolve(refused('DRAINING'))
    const onGone = () => reject(new SenderGone())
    draining.addEventListener('abort', onDrain)
    outgoing.once('close', onGone)
    handled.then(resolve)
    if (draining.aborted) onDrain()
    else if (outgoing.destroyed) onGone()
    return promise.finally(() => {
      timers.clearTimeout(timer)
      draining.removeEventListener('abort', onDrain)
      outgoing.off('close', onGone)
    })
  }
}

/** Never rejects. */
async function outcomeOf(pushHandler: PushHandler, body: unknown): Promise<PushOutcome> {
  try {
    await pushHandler(body)
    return takenBySource
  } catch (error) {
    return isPluginError(error)
      ? refusedBySource(error.message)
      : { ...refused('RECEIVER_FAILED'), fault: error }
  }
}

/** A push is no event: its provider has its reply, and what comes of it the source posts itself. */
const takenBySource: PushOutcome = {
  outcome: 'handshake',
  handshake: { status: 204, body: '', reason: 'a source took it' },
}

function refusedBySource(reason: string): Refused {
  return { ...refused('RECEIVER_FAILED'), reason }
}

/**
 * The configured source to which requests for this endpoint are pushed: the one whose name begins the name of the endpoint. While
 * it does not run, senders have to come again.
 */
export function sourceOf(endpoint: string, sources: Readonly<Record<string, unknown>>): string | undefined {
  const end = endpoint.indexOf('/')
  const name = endpoint.slice(0, Math.max(end, 0))
  return Object.hasOwn(sources, name) ? name : undefined
}

export function refusedWithoutSource(name: string): Refused {
  return refusedBySource(`the source ${name}, whose it is, does not run`)
}
