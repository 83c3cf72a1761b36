/** Owns the mode `pull`: notifications are asked for, one long request after the other. */

import { isPluginError, type PluginError } from '@reveille/kit'
import { secondMs } from '../durations.ts'
import { withSetup } from './consent.ts'
import type { WatchContext } from './context.ts'
import type { NotificationHandler } from './notification-handler.ts'
import { isRecoverable, retry } from './retry.ts'

const mostAtOnce = 100
/** Google gives those back that were not acknowledged in time; setup asks for a minute. */
const extendEveryMs = 30 * secondMs
const extendBySeconds = 600
/** Whoever answers at once that there is nothing, as emulators do, is not asked again at once. */
const shortestPullMs = secondMs

export async function pullNotifications(
  context: WatchContext,
  handler: NotificationHandler,
  signal: AbortSignal,
): Promise<void> {
  const { clock, config, pubsub } = context
  const { subscription } = config
  const pull = (inner: AbortSignal) => pubsub.pull(subscription, mostAtOnce, inner)
  for (;;) {
    const pulledAt = clock.now()
    const notifications = await retry(context, signal, pull, { shouldRetry: isRecoverable, words })
    if (notifications.length === 0) {
      if (Math.abs(clock.now() - pulledAt) < shortestPullMs) await clock.sleep(shortestPullMs, signal)
      continue
    }
    const ackIds = notifications.flatMap(({ ackId }) => ackId ?? [])
    const abouts = notifications.map(({ about }) => about)
    await whileExtended(context, ackIds, (inner) => handler.handle(abouts, inner), signal)
    if (ackIds.length > 0) await harmless(pubsub.acknowledge(subscription, ackIds, signal))
    signal.throwIfAborted()
  }
}

/** Sees to it that Google gives the notifications to nobody else meanwhile. */
async function whileExtended(
  { clock, config, pubsub }: WatchContext,
  ackIds: readonly string[],
  perform: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController()
  const either = AbortSignal.any([signal, done.signal])
  const extend = async () => {
    while (!either.aborted) {
      await clock.sleep(extendEveryMs, either)
      await harmless(pubsub.extend(config.subscription, ackIds, extendBySeconds, either))
    }
  }
  const extending = extend().catch((error) => {
    if (!either.aborted) throw error
  })
  try {
    await perform(signal)
  } finally {
    done.abort()
    await extending
  }
}

/** What fails here comes again, and is found to be old; what is to be mended is told by the next pull. */
async function harmless(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!isPluginError(error)) throw error
  }
}

function words({ code, message }: PluginError): string {
  return code === 'not-found' || code === 'forbidden' ? withSetup(message) : message
}
