/** Pulls notifications in mode `pull`, by one long request after the other. */

import { isPluginError, type PluginError } from '@reveille/kit'
import { secondMs } from '../durations.ts'
import { withSetup } from './consent.ts'
import type { WatchContext } from './context.ts'
import type { NotificationHandler } from './notification-handler.ts'
import { isRecoverable, retry } from './retry.ts'

const maxAtOnce = 100
/** Google delivers notifications again that are not acknowledged in time. Setup asks for a minute. */
const extendEveryMs = 30 * secondMs
const extendBySeconds = 600
/** An emulator that answers an empty pull at once is not asked again at once. */
const minPullMs = secondMs

export async function pullNotifications(
  context: WatchContext,
  handler: NotificationHandler,
  signal: AbortSignal,
): Promise<void> {
  const { clock, config, pubsub } = context
  const { subscription } = config
  const pull = (inner: AbortSignal) => pubsub.pull(subscription, maxAtOnce, inner)
  for (;;) {
    const pulledAt = clock.now()
    const notifications = await retry(context, signal, pull, { shouldRetry: isRecoverable, describe })
    if (notifications.length === 0) {
      if (Math.abs(clock.now() - pulledAt) < minPullMs) await clock.sleep(minPullMs, signal)
      continue
    }
    const ackIds = notifications.flatMap(({ ackId }) => ackId ?? [])
    const abouts = notifications.map(({ about }) => about)
    await whileExtended(context, ackIds, (inner) => handler.handle(abouts, inner), signal)
    if (ackIds.length > 0) await ignoreRefusal(pubsub.acknowledge(subscription, ackIds, signal))
    signal.throwIfAborted()
  }
}

/** Extends the deadline of the notifications meanwhile, so that Google delivers them to no other process. */
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
      await ignoreRefusal(pubsub.extend(config.subscription, ackIds, extendBySeconds, either))
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

/**
 * Ignores failures: the notifications come again and are found to be old, and the next pull reports a lasting
 * failure.
 */
async function ignoreRefusal(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!isPluginError(error)) throw error
  }
}

function describe({ code, message }: PluginError): string {
  return code === 'not-found' || code === 'forbidden' ? withSetup(message) : message
}
