/** Owns requests that a source takes over: they wait for it within bounds, and what it makes of them is the answer. */

import type { ServerResponse } from 'node:http'
import type { Timers } from '@reveille/engine'
import { isPluginError } from '@reveille/kit'
import { SenderGone } from './body/read-body.ts'
import { type Ending, type Exchange, type Refused, refused } from './exchange.ts'

/** Resolves when the request may be answered with success. A throw: its sender is to come again. */
export type Receiver = (body: unknown) => Promise<void>

export interface ReceivingOptions {
  readonly timers: Timers
  /** Aborted when the gateway begins to drain: every wait ends. */
  readonly draining: AbortSignal
}

/** @throws SenderGone */
export type Receive = (exchange: Exchange, receiver: Receiver, body: unknown) => Promise<Ending>

/** Google gives up a push after ten minutes at most: https://cloud.google.com/pubsub/docs/push */
const longestMs = 300_000
/** Of one endpoint, at one time. */
export const mostTaken = 100

export function createReceiving({ timers, draining }: ReceivingOptions): Receive {
  /** By endpoint: what a source has not done with, whether somebody still waits for it or not. */
  const taken = new Map<string, number>()

  return async function receive({ endpoint = '', outgoing }, receiver, body) {
    const count = taken.get(endpoint) ?? 0
    if (count >= mostTaken) return notTaken('the source has too many to do')
    taken.set(endpoint, count + 1)
    const done = settled(receiver, body).finally(() => giveBack(endpoint))
    return firstOf(done, outgoing)
  }

  function giveBack(endpoint: string): void {
    const left = (taken.get(endpoint) ?? 0) - 1
    if (left > 0) taken.set(endpoint, left)
    else taken.delete(endpoint)
  }

  function firstOf(done: Promise<Ending>, outgoing: ServerResponse): Promise<Ending> {
    return new Promise((resolve, reject) => {
      const timer = timers.setTimeout(
        () => end(notTaken(`the source was not done within ${longestMs / 1000} s`)),
        longestMs,
      )
      const onDrain = () => end(refused('DRAINING'))
      const onGone = () => end(undefined)
      /** The first end counts. Undefined: nobody is left to be answered. */
      function end(ending: Ending | undefined): void {
        timers.clearTimeout(timer)
        draining.removeEventListener('abort', onDrain)
        outgoing.off('close', onGone)
        if (ending === undefined) reject(new SenderGone())
        else resolve(ending)
      }
      draining.addEventListener('abort', onDrain)
      outgoing.once('close', onGone)
      done.then(end)
      if (draining.aborted) onDrain()
      else if (outgoing.destroyed) onGone()
    })
  }
}

/** Never rejects. */
async function settled(receiver: Receiver, body: unknown): Promise<Ending> {
  try {
    await receiver(body)
    return toldToSource
  } catch (error) {
    return isPluginError(error) ? notTaken(error.message) : { ...refused('RECEIVER_FAILED'), fault: error }
  }
}

/** It is no event by itself: it has its provider's answer, and what comes of it the source posts. */
const toldToSource: Ending = {
  outcome: 'handshake',
  handshake: { status: 204, body: '', reason: 'a source took it' },
}

function notTaken(told: string): Refused {
  return { ...refused('RECEIVER_FAILED'), told }
}

/**
 * The source whose requests come to this endpoint, by the configuration: those whose names begin with its own. While it
 * does not run, whoever posts there is to come again.
 */
export function sourceOf(endpoint: string, sources: Readonly<Record<string, unknown>>): string | undefined {
  const end = endpoint.indexOf('/')
  const name = endpoint.slice(0, Math.max(end, 0))
  return Object.hasOwn(sources, name) ? name : undefined
}

export function sourceAway(name: string): Refused {
  return notTaken(`the source ${name}, whose it is, does not run`)
}
