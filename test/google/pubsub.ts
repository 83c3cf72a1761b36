/**
 * Keeps topics, their policies, subscriptions and the messages that wait in them.
 * https://cloud.google.com/pubsub/docs/reference/rest A message is waiting (`leasedUntil` is past), leased (a caller has
 * until then to acknowledge it) or gone (acknowledged). It gets a new ack id with each lease.
 */

import { EventEmitter, once } from 'node:events'
import { createPushes, type Delivery, type PushConfig, type Subscription } from './push.ts'
import { badArgument, type Refusal, refusal } from './refusal.ts'
import type { Handler } from './requests.ts'

type Binding = { role?: string; members?: string[]; condition?: object }

interface Topic {
  readonly name: string
  bindings: readonly Binding[]
  /** Grows with each change of the policy. */
  version: number
}

export interface PubSubOptions {
  now(): number
  /** Real milliseconds that a pull waits for a message. */
  readonly pullWait: number
  onPush(): void
}

/** https://developers.google.com/workspace/gmail/api/guides/push#grant_publish_rights_on_your_topic */
const gmailsAccount = 'serviceAccount:gmail-api-push@system.gserviceaccount.com'
const publisherRole = 'roles/pubsub.publisher'
const notGiven = Number.NEGATIVE_INFINITY

export type PubSub = ReturnType<typeof createPubSub>

export function createPubSub({ now, pullWait, onPush }: PubSubOptions) {
  const topics = new Map<string, Topic>()
  const subscriptions = new Map<string, Subscription>()
  const pushes = createPushes(now, onPush)
  /** Emits `news` when a message may wait. */
  const waiting = new EventEmitter().setMaxListeners(0)
  const shutdown = new AbortController()
  let messages = 0

  function known<Kept>(all: ReadonlyMap<string, Kept>, name = ''): Kept {
    const found = all.get(name)
    if (found === undefined) throw notFound(name)
    return found
  }

  function wake(subscription: Subscription): void {
    if (subscription.resource.pushConfig?.pushEndpoint !== undefined) pushes.begin(subscription)
    waiting.emit('news')
  }

  function createTopic(name: string): Topic {
    checkNew(topics, name)
    const topic = { name, bindings: [], version: 0 }
    topics.set(name, topic)
    return topic
  }

  function setPolicy(
    topic: Topic,
    { bindings = [], etag }: gapi.client.pubsub.Policy,
  ): gapi.client.pubsub.Policy {
    for (const { role = '', members = [], condition } of bindings) {
      const isKnown = /^(roles|projects\/[^/]+\/roles)\/[\w.]+$/.test(role) && condition === undefined
      const isMember = (text: string) => /^(allUsers|(user|serviceAccount|group):[^\s@]+@[^\s@]+)$/.test(text)
      if (!isKnown || members.length === 0 || !members.every(isMember)) {
        throw badArgument('pubsub', `Role ${role} with ${members} is not supported for this resource.`)
      }
    }
    if (etag !== undefined && etag !== etagOf(topic)) throw refusal('pubsub', { code: 409 })
    topic.bindings = bindings
    topic.version += 1
    return policyOf(topic)
  }

  function createSubscription(name: string, body: gapi.client.pubsub.Subscription): Subscription {
    const { topic = '', ackDeadlineSeconds = 0, pushConfig = {} } = body
    if (ackDeadlineSeconds !== 0) checkDeadline(ackDeadlineSeconds, 10)
    checkPush(pushConfig)
    checkNew(subscriptions, name)
    known(topics, topic)
    const resource = { ...body, name, topic, pushConfig, ackDeadlineSeconds: ackDeadlineSeconds || 10 }
    const subscription = { resource, deliveries: [] }
    subscriptions.set(name, subscription)
    return subscription
  }

  function changePush(subscription: Subscription, pushConfig: PushConfig): void {
    checkPush(pushConfig)
    subscription.resource = { ...subscription.resource, pushConfig }
    for (const delivery of subscription.deliveries) delivery.leasedUntil = notGiven
    wake(subscription)
  }

  async function pull(
    subscription: Subscription,
    max: number,
    signal: AbortSignal,
  ): Promise<gapi.client.pubsub.PullResponse> {
    if (max < 1) throw badArgument('pubsub', 'The value for max_messages must be greater than 0.')
    const ended = AbortSignal.any([signal, shutdown.signal, AbortSignal.timeout(pullWait)])
    for (;;) {
      if (subscription.resource.pushConfig?.pushEndpoint !== undefined) {
        throw refusal('pubsub', { code: 400, status: 'FAILED_PRECONDITION' })
      }
      // A message that is given to a caller who has gone is lost until its deadline.
      if (signal.aborted) return {}
      const free = subscription.deliveries.filter(({ leasedUntil }) => leasedUntil <= now())
      const receivedMessages = free.slice(0, Math.min(max, 1000)).map((delivery) => {
        delivery.leasedUntil = now() + subscription.resource.ackDeadlineSeconds * 1000
        delivery.attempts += 1
        return { ackId: ackIdOf(delivery), message: delivery.message }
      })
      if (receivedMessages.length > 0) return { receivedMessages }
      if (ended.aborted) return {}
      await once(waiting, 'news', { signal: ended }).catch(() => undefined)
    }
  }

  /** Returns the messages of the ids. The id of an expired lease has none. */
  function leased({ deliveries }: Subscription, ackIds: readonly string[]): readonly Delivery[] {
    const wrong = ackIds.find((id) => !/^ack-\d+-\d+$/.test(id))
    if (wrong !== undefined)
      throw badArgument('pubsub', `You have passed an invalid ack ID (ack_id=${wrong}).`)
    return deliveries.filter((delivery) => ackIds.includes(ackIdOf(delivery)))
  }

  const ofTopic = (act: (topic: Topic, body: gapi.client.pubsub.SetIamPolicyRequest) => object): Handler => {
    return ({ path: [name], body }) => act(known(topics, name), body)
  }
  const ofSubscription = (
    // biome-ignore lint/suspicious/noExplicitAny: the row has checked it.
    act: (subscription: Subscription, body: any, signal: AbortSignal) => object | undefined,
  ): Handler => {
    return async ({ path: [name], body, signal }) =>
      (await act(known(subscriptions, name), body, signal)) ?? {}
  }

  const handlers: Readonly<Record<string, Handler>> = {
    'topics.create': ({ path: [name = ''] }) => ({ name: createTopic(name).name }),
    'topics.get': ofTopic(({ name }) => ({ name })),
    'topics.getIamPolicy': ofTopic(policyOf),
    'topics.setIamPolicy': ofTopic((topic, { policy = {} }) => setPolicy(topic, policy)),
    'subscriptions.create': ({ path: [name = ''], body }) => createSubscription(name, body).resource,
    'subscriptions.get': ofSubscription(({ resource }) => resource),
    'subscriptions.modifyPushConfig': ofSubscription((subscription, { pushConfig }) => {
      changePush(subscription, pushConfig)
      return undefined
    }),
    'subscriptions.pull': ofSubscription((subscription, { maxMessages }, signal) =>
      pull(subscription, maxMessages, signal),
    ),
    'subscriptions.acknowledge': ofSubscription((subscription, { ackIds }) => {
      const done = leased(subscription, ackIds)
      subscription.deliveries = subscription.deliveries.filter((delivery) => !done.includes(delivery))
      return undefined
    }),
    'subscriptions.modifyAckDeadline': ofSubscription((subscription, { ackIds, ackDeadlineSeconds }) => {
      checkDeadline(ackDeadlineSeconds, 0)
      for (const delivery of leased(subscription, ackIds)) {
        delivery.leasedUntil = ackDeadlineSeconds === 0 ? notGiven : now() + ackDeadlineSeconds * 1000
      }
      wake(subscription)
      return undefined
    }),
  }

  return {
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([id, handler]) => [`pubsub.projects.${id}`, handler]),
    ),

    /** Makes topic, subscription and role as setup would. */
    prepare(topic: string, name: string, pushConfig: PushConfig = {}): void {
      if (!topics.has(topic)) createTopic(topic)
      setPolicy(known(topics, topic), { bindings: [{ role: publisherRole, members: [gmailsAccount] }] })
      if (!subscriptions.has(name)) createSubscription(name, { topic, ackDeadlineSeconds: 60 })
      if (pushConfig.pushEndpoint !== undefined) changePush(known(subscriptions, name), pushConfig)
    },

    /** Publishes for Gmail. Returns why it may not. */
    publish(name: string, data: string): { readonly code: number; readonly why: string } | undefined {
      const topic = topics.get(name)
      if (topic === undefined) return { code: 404, why: notFound(name).message }
      const may = topic.bindings.some(
        ({ role, members }) => role === publisherRole && members?.includes(gmailsAccount),
      )
      if (!may) return { code: 403, why: 'User not authorized to perform this action.' }
      messages += 1
      const messageId = String(8_000_000_000_000_000n + BigInt(messages) * 13n)
      const message = { data, messageId, publishTime: new Date(now()).toISOString() }
      for (const subscription of subscriptions.values()) {
        if (subscription.resource.topic !== name) continue
        subscription.deliveries.push({ message, leasedUntil: notGiven, attempts: 0 })
        wake(subscription)
      }
      return undefined
    },

    pushes,
    names: () => [...topics.keys(), ...subscriptions.keys()],
    unacknowledged: () => [...subscriptions.values()].flatMap(({ deliveries }) => deliveries).length,
    roles: (): Record<string, readonly string[]> =>
      Object.fromEntries(
        [...topics.values()].flatMap(({ bindings }) =>
          bindings.map(({ role = '', members = [] }) => [role, members]),
        ),
      ),
    /** To be called after the clock was moved. */
    wakeAll(): void {
      for (const subscription of subscriptions.values()) wake(subscription)
    },
    async close(): Promise<void> {
      shutdown.abort()
      await pushes.close()
    },
  }
}

/** A policy that was never changed has nothing but its etag. */
function policyOf(topic: Topic): gapi.client.pubsub.Policy {
  const etag = etagOf(topic)
  return topic.bindings.length === 0 ? { etag } : { version: 1, etag, bindings: [...topic.bindings] }
}

function etagOf({ version }: Topic): string {
  return Buffer.from(`BwX${version}`.padEnd(8, '0')).toString('base64')
}

function ackIdOf({ message, attempts }: Delivery): string {
  return `ack-${message.messageId}-${attempts}`
}

function checkNew(all: ReadonlyMap<string, unknown>, name: string): void {
  const last = name.split('/').at(-1) ?? ''
  // https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names
  if (!/^(?!goog)[A-Za-z][\w.~+%-]{2,254}$/i.test(last)) {
    throw badArgument('pubsub', `Invalid resource name given (name=${name}).`)
  }
  if (!all.has(name)) return
  const message = `Resource already exists in the project (resource=${last}).`
  throw refusal('pubsub', { code: 409, status: 'ALREADY_EXISTS', message })
}

function notFound(name: string): Refusal {
  return refusal('pubsub', { code: 404, message: `Resource not found (resource=${name.split('/').at(-1)}).` })
}

/** "The minimum custom deadline you can specify is 10 seconds. The maximum ... is 600 seconds." */
function checkDeadline(seconds: number, least: number): void {
  if (seconds >= least && seconds <= 600) return
  throw badArgument('pubsub', `Invalid ack deadline given (ack_deadline_secs=${seconds}).`)
}

/** https://cloud.google.com/pubsub/docs/create-push-subscription requires "A publicly accessible HTTPS address". */
function checkPush({ pushEndpoint, oidcToken }: PushConfig): void {
  const isAddress = pushEndpoint === undefined || URL.parse(pushEndpoint)?.protocol === 'https:'
  const email = oidcToken?.serviceAccountEmail ?? ''
  const isSigned = /^[^\s@]+@[^\s@]+\.gserviceaccount\.com$/.test(email) && pushEndpoint !== undefined
  if (isAddress && (oidcToken === undefined || isSigned)) return
  throw badArgument('pubsub', `Invalid push endpoint given (endpoint=${pushEndpoint}, email=${email}).`)
}
