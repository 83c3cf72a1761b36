/** Performs the calls of Pub/Sub. https://docs.cloud.google.com/pubsub/docs/reference/rest */

import { asList, asRecord, asString, type Facts, joinUrl, transientError } from '@reveille/kit'
import type { Call, Calls } from './calls.ts'
import { readNotification } from './notification.ts'
import type { Notification, PubSub, Push, Subscription } from './port.ts'
import { createReader } from './reading.ts'
import { pubsubService as service } from './service.ts'

/** Google answers an empty pull after a minute and a half, so a longer one is a dead connection. */
const secondsOfPull = 100

/** One pull answers at most this many messages. */
const maxPulled = 1000

const { text, records, failure } = createReader(service)

type Request = Omit<Call, 'service' | 'url'> & {
  /** The name of a topic or subscription, with a verb if there is one: `projects/p/topics/t:setIamPolicy`. */
  readonly path: string
  readonly query?: string
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of Pub/Sub's calls, each of a few lines
export function createPubSubPort(call: Calls, baseUrl: string): PubSub {
  const ask = ({ path, query = '', ...rest }: Request) =>
    call({ service, url: joinUrl(baseUrl, `/v1/${inPath(path)}${query}`), ...rest })

  /** Asks for what cannot be absent. */
  const askSurely = (request: Request & { readonly absent?: undefined }) => ask(request) as Promise<Facts>

  return {
    async pull(subscription, max, signal) {
      const fields = await ask({
        method: 'POST',
        path: `${subscription}:pull`,
        body: { maxMessages: Math.min(Math.max(1, max), maxPulled) },
        signal,
        seconds: secondsOfPull,
        // DEADLINE_EXCEEDED means that nothing came.
        absent: 504,
      })
      return fields === undefined ? [] : records(fields, 'receivedMessages').map(readReceived)
    },

    async acknowledge(subscription, ackIds, signal) {
      // Google refuses an empty list.
      if (ackIds.length === 0) return
      await askSurely({ method: 'POST', path: `${subscription}:acknowledge`, body: { ackIds }, signal })
    },

    async extend(subscription, ackIds, seconds, signal) {
      if (ackIds.length === 0) return
      const body = { ackIds, ackDeadlineSeconds: seconds }
      await askSurely({ method: 'POST', path: `${subscription}:modifyAckDeadline`, body, signal })
    },

    async topic(name, signal) {
      const fields = await ask({ path: name, signal, absent: 404 })
      return fields && { name: text(fields, 'name') }
    },

    async createTopic(name, signal) {
      // 409 means that the topic exists already, which is fine.
      await ask({ method: 'PUT', path: name, body: {}, signal, absent: 409 })
    },

    async subscription(name, signal) {
      const fields = await ask({ path: name, signal, absent: 404 })
      return fields && readSubscription(fields)
    },

    async createSubscription({ name, topic, push, ackDeadline }, signal) {
      const pushConfig = push === undefined ? {} : { pushConfig: pushConfigOf(push) }
      // Otherwise Google removes a subscription that is not read for a month, as when the gateway is switched off.
      const expirationPolicy = {}
      const body = { topic, ackDeadlineSeconds: ackDeadline, expirationPolicy, ...pushConfig }
      await askSurely({ method: 'PUT', path: name, body, signal })
    },

    async changePush(name, push, signal) {
      const body = { pushConfig: push === undefined ? {} : pushConfigOf(push) }
      await askSurely({ method: 'POST', path: `${name}:modifyPushConfig`, body, signal })
    },

    async grant(topic, role, member, signal) {
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const policy = await askSurely({
          path: `${topic}:getIamPolicy`,
          // An older version lacks the conditions, and writing it back would lose them.
          query: '?options.requestedPolicyVersion=3',
          signal,
        })
        const changed = withMember(policy, role, member)
        if (changed === undefined) return 'had'
        const written = await ask({
          method: 'POST',
          path: `${topic}:setIamPolicy`,
          body: { policy: changed },
          signal,
          // Another process has written meanwhile, so the etag is out of date.
          absent: 409,
          // Google then says: "One or more users named in the policy do not belong to a permitted customer".
          precondition: 'policy-forbids',
        })
        if (written !== undefined) return 'granted'
      }
      throw transientError('unavailable', `Another process is changing the roles of ${topic}: try again.`)
    },
  }
}

/** Escapes `+`, `%` and `?` in a name. A colon stays, because projects of a domain have one, and verbs follow one. */
function inPath(name: string): string {
  return name
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3A', ':'))
    .join('/')
}

function readReceived(received: Facts): Notification {
  const notification = readNotification(received)
  if (notification?.ackId === undefined) throw failure('gave a message without its ids')
  return notification
}

/**
 * Adds a member to a role. Returns undefined if the member has the role already; a role on a condition does not
 * count. A policy that is not understood is not written back, because others would lose roles.
 * https://docs.cloud.google.com/iam/docs/reference/rest/v1/Policy
 */
function withMember(policy: Facts, role: string, member: string): Facts | undefined {
  text(policy, 'etag')
  const bindings = records(policy, 'bindings')
  const place = bindings.findIndex((each) => each['role'] === role && each['condition'] == null)
  const binding = bindings[place]
  if (binding === undefined) return { ...policy, bindings: [...bindings, { role, members: [member] }] }
  const { members = [] } = binding
  if (!Array.isArray(members)) throw failure('gave a role without a list of members')
  if (members.includes(member)) return undefined
  const changed = { ...binding, members: [...asList(members), member] }
  return { ...policy, bindings: bindings.with(place, changed) }
}

/** https://docs.cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions */
function readSubscription(fields: Facts): Subscription {
  const { ackDeadlineSeconds: ackDeadline, pushConfig } = fields
  if (typeof ackDeadline !== 'number') throw failure('gave no `ackDeadlineSeconds`')
  const push = readPush(asRecord(pushConfig))
  return {
    name: text(fields, 'name'),
    topic: text(fields, 'topic'),
    ackDeadline,
    ...(push !== undefined && { push }),
  }
}

function readPush(config: Facts | undefined): Push | undefined {
  const endpoint = asString(config?.['pushEndpoint']) ?? ''
  if (endpoint === '') return undefined
  const token = asRecord(config?.['oidcToken'])
  const serviceAccount = asString(token?.['serviceAccountEmail'])
  const audience = asString(token?.['audience'])
  return {
    endpoint,
    ...(serviceAccount !== undefined && { serviceAccount }),
    ...(audience !== undefined && { audience }),
  }
}

function pushConfigOf({ endpoint, serviceAccount, audience }: Push): object {
  const oidcToken = { serviceAccountEmail: serviceAccount, ...(audience !== undefined && { audience }) }
  return { pushEndpoint: endpoint, ...(serviceAccount !== undefined && { oidcToken }) }
}
