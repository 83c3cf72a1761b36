/** Decides when a subscription posts: at once, and again if there was no good answer in time. */

import type { GoogleClock } from '../clock.ts'
import { isAcknowledgement, type Push, push } from './push.ts'
import type { Subscription } from './subscriptions.ts'

export interface PushingOptions {
  readonly clock: GoogleClock
  /** Maps an origin to the one behind its tunnel. */
  readonly tunnels: ReadonlyMap<string, string>
  /** Called after each push, whatever its result. */
  onEnd(): void
}

export function createPushing({ clock, tunnels, onEnd }: PushingOptions) {
  const pushes: Push[] = []
  const underway = new Set<Promise<void>>()
  const closing = new AbortController()

  async function pushOne(
    subscription: Subscription,
    delivery: Subscription['deliveries'][number],
  ): Promise<void> {
    const { name, pushConfig } = subscription.resource
    const { message } = delivery
    const { signal } = closing
    const status = await push({ subscription: name, config: pushConfig, message, clock, tunnels, signal })
    pushes.push({
      endpoint: pushConfig.pushEndpoint ?? '',
      messageId: message.messageId,
      status,
      at: clock.now(),
    })
    if (isAcknowledgement(status)) {
      subscription.deliveries = subscription.deliveries.filter((each) => each !== delivery)
    }
    // The message comes again when the clock is advanced.
    delivery.leasedUntil = clock.now() + 1
  }

  return {
    /** The pushes that have ended. */
    pushes,
    /** Posts all messages that are not with a receiver that may still answer. */
    begin(subscription: Subscription): void {
      for (const delivery of subscription.deliveries) {
        if (delivery.leasedUntil > clock.now()) continue
        // A receiver that has not answered by then is asked again.
        delivery.leasedUntil = clock.now() + subscription.resource.ackDeadlineSeconds * 1000
        delivery.attempts += 1
        const attempt = pushOne(subscription, delivery).finally(() => {
          underway.delete(attempt)
          onEnd()
        })
        underway.add(attempt)
      }
    },
    async close(): Promise<void> {
      closing.abort()
      await Promise.allSettled(underway)
    },
  }
}
