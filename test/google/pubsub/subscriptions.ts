/**
 * Keeps subscriptions and the messages that wait in them.
 * https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions A message is waiting (`leasedUntil`
 * is past), leased (a caller has until then to acknowledge it) or gone (acknowledged). It gets a new ack id with each
 * lease.
 */

import type { GoogleClock } from '../clock.ts'
import { badArgument, refusal } from '../refusal.ts'
import { alreadyExists, checkName, notFound, type Topics } from './topics.ts'

export interface PushConfig {
  readonly pushEndpoint?: string
  readonly oidcToken?: { readonly serviceAccountEmail?: string; readonly audience?: string }
}

export interface PubSubMessage {
  readonly data: string
  readonly messageId: string
  readonly publishTime: string
}

interface Delivery {
  readonly message: PubSubMessage
  leasedUntil: number
  attempts: number
}

export interface Subscription {
  resource: {
    readonly name: string
    readonly topic: string
    readonly ackDeadlineSeconds: number
    readonly pushConfig: PushConfig
  }
  deliveries: Delivery[]
  readonly waiters: Set<() => void>
}

export interface SubscriptionOptions {
  readonly clock: GoogleClock
  readonly topics: Topics
  /** How long a pull waits for a message, in real milliseconds. */
  readonly pullWait: number
  /** Called when a message waits in a subscription that pushes. */
  readonly onPush: (subscription: Subscription) => void
}

const notGiven = Number.NEGATIVE_INFINITY

export type Subscriptions = ReturnType<typeof createSubscriptions>

export function createSubscriptions({ clock, topics, pullWait, onPush }: SubscriptionOptions) {
  const subscriptions = new Map<string, Subscription>()
  const shutdown = new AbortController()
  let messages = 0

  function known(name: string): Subscription {
    const subscription = subscriptions.get(name)
    if (subscription === undefined) throw notFound(name)
    return subscription
  }

  function isPush({ resource }: Subscription): boolean {
    return resource.pushConfig.pushEndpoint !== undefined
  }

  function wake(subscription: Subscription): void {
    if (isPush(subscription)) onPush(subscription)
    else for (const waiter of [...subscription.waiters]) waiter()
  }

  function take(subscription: Subscription, max: number): object[] {
    const { resource, deliveries } = subscription
    const now = clock.now()
    const waiting = deliveries.filter(({ leasedUntil }) => leasedUntil <= now).slice(0, max)
    return waiting.map((delivery) => {
      delivery.leasedUntil = now + resource.ackDeadlineSeconds * 1000
      delivery.attempts += 1
      return { ackId: ackIdOf(resource.name, delivery), message: delivery.message }
    })
  }

  /** Returns the messages of the ids. The id of an expired lease has none. */
  function leased(subscription: Subscription, ackIds: readonly string[]): Delivery[] {
    return ackIds.flatMap((ackId) => {
      const parts = readAckId(ackId)
      if (parts?.name !== subscription.resource.name) {
        throw badArgument('pubsub', `You have passed an invalid ack ID to the service (ack_id=${ackId}).`)
      }
      const { messageId, attempt } = parts
      return subscription.deliveries.filter(
        ({ message, attempts }) => message.messageId === messageId && attempts === attempt,
      )
    })
  }

  /** Settles when a message may have come, when the time is over, or when the caller aborts. */
  function untilWoken(subscription: Subscription, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const { waiters } = subscription
      const end = () => {
        clearTimeout(timer)
        waiters.delete(end)
        signal.removeEventListener('abort', end)
        shutdown.signal.removeEventListener('abort', end)
        resolve()
      }
      // The waiting caller holds the process; this timer does not.
      const timer = setTimeout(end, ms).unref()
      waiters.add(end)
      signal.addEventListener('abort', end)
      shutdown.signal.addEventListener('abort', end)
    })
  }

  return {
    known,
    wake,
    names: () => [...subscriptions.keys()],
    all: () => [...subscriptions.values()],

    create(name: string, body: Partial<Subscription['resource']> & { topic: string }): object {
      checkName(name)
      const { topic, ackDeadlineSeconds = 0, pushConfig = {} } = body
      if (!/^projects\/[^/]+\/topics\/[^/]+$/.test(topic)) {
        throw badArgument('pubsub', `Invalid resource name given (name=${topic}).`)
      }
      if (Number(ackDeadlineSeconds) !== 0) checkDeadline(Number(ackDeadlineSeconds), 10)
      checkPush(pushConfig)
      if (subscriptions.has(name)) throw alreadyExists(name)
      topics.known(topic)
      const resource = {
        ...body,
        name,
        topic,
        pushConfig,
        ackDeadlineSeconds: Number(ackDeadlineSeconds) || 10,
        messageRetentionDuration: '604800s',
        expirationPolicy: { ttl: '2678400s' },
        state: 'ACTIVE',
      }
      subscriptions.set(name, { resource, deliveries: [], waiters: new Set() })
      return resource
    },

    delete(name: string): void {
      const { waiters } = known(name)
      subscriptions.delete(name)
      for (const waiter of [...waiters]) waiter()
    },

    changePush(name: string, pushConfig: PushConfig): void {
      const subscription = known(name)
      checkPush(pushConfig)
      subscription.resource = { ...subscription.resource, pushConfig }
      for (const delivery of subscription.deliveries) delivery.leasedUntil = notGiven
      for (const waiter of [...subscription.waiters]) waiter()
      wake(subscription)
    },

    publish(topic: string, data: string): string {
      messages += 1
      const messageId = String(8_000_000_000_000_000n + BigInt(messages) * 13n)
      const message = { data, messageId, publishTime: new Date(clock.now()).toISOString() }
      for (const subscription of subscriptions.values()) {
        if (subscription.resource.topic !== topic) continue
        subscription.deliveries.push({ message, leasedUntil: notGiven, attempts: 0 })
        wake(subscription)
      }
      return messageId
    },

    async pull(
      name: string,
      max: number,
      { returnImmediately, signal }: { returnImmediately: boolean; signal: AbortSignal },
    ): Promise<object> {
      if (max < 1) throw badArgument('pubsub', 'The value for max_messages must be greater than 0.')
      const end = performance.now() + pullWait
      for (;;) {
        const subscription = known(name)
        if (isPush(subscription)) {
          const message = 'This method is not supported for this subscription type.'
          throw refusal('pubsub', { code: 400, status: 'FAILED_PRECONDITION', message })
        }
        // A message that is given to a caller who has gone is lost until its deadline, so a caller that is known to
        // have gone gets none.
        if (signal.aborted) return {}
        const receivedMessages = take(subscription, Math.min(max, 1000))
        if (receivedMessages.length > 0) return { receivedMessages }
        const rest = end - performance.now()
        if (returnImmediately || rest <= 0 || shutdown.signal.aborted) return {}
        await untilWoken(subscription, rest, signal)
      }
    },

    acknowledge(name: string, ackIds: readonly string[]): void {
      const subscription = known(name)
      const done = leased(subscription, ackIds)
      subscription.deliveries = subscription.deliveries.filter((delivery) => !done.includes(delivery))
    },

    modifyDeadline(name: string, ackIds: readonly string[], seconds: number): void {
      checkDeadline(seconds, 0)
      const subscription = known(name)
      const now = clock.now()
      for (const delivery of leased(subscription, ackIds)) {
        delivery.leasedUntil = seconds === 0 ? notGiven : now + seconds * 1000
      }
      if (seconds === 0) wake(subscription)
    },

    /** To be called after the clock was moved. */
    wakeAll(): void {
      for (const subscription of subscriptions.values()) wake(subscription)
    },

    close(): void {
      shutdown.abort()
    },
  }
}

function ackIdOf(name: string, { message, attempts }: Delivery): string {
  return Buffer.from(JSON.stringify([name, message.messageId, attempts])).toString('base64url')
}

function readAckId(text: string): { name: string; messageId: string; attempt: number } | undefined {
  try {
    const [name, messageId, attempt] = JSON.parse(Buffer.from(text, 'base64url').toString())
    return { name, messageId, attempt }
  } catch {
    return undefined
  }
}

/** "The minimum custom deadline you can specify is 10 seconds. The maximum ... is 600 seconds." */
function checkDeadline(seconds: number, least: number): void {
  if (seconds >= least && seconds <= 600) return
  const message = `Invalid ack deadline given (ack_deadline_secs=${seconds}). It must be between ${least} and 600 seconds.`
  throw badArgument('pubsub', message)
}

/**
 * Google requires "A publicly accessible HTTPS address":
 * https://cloud.google.com/pubsub/docs/create-push-subscription. Addresses on loopback are allowed too, for tests.
 */
function checkPush({ pushEndpoint, oidcToken }: PushConfig): void {
  if (pushEndpoint === undefined) {
    if (oidcToken === undefined) return
    throw badArgument('pubsub', 'An OIDC token needs a push endpoint.')
  }
  const url = URL.parse(pushEndpoint)
  const isGood = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  if (!isGood) throw badArgument('pubsub', `Invalid push endpoint given (endpoint=${pushEndpoint}).`)
  const email = oidcToken?.serviceAccountEmail
  if (oidcToken !== undefined && !/^[^\s@]+@[^\s@]+\.gserviceaccount\.com$/.test(email ?? '')) {
    throw badArgument('pubsub', `Invalid service account email given (email=${email ?? ''}).`)
  }
}

export function isLoopback(hostname: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
}
