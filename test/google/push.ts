/**
 * Posts messages to the address of a subscription: at once, and again if there was no good answer in time.
 * https://cloud.google.com/pubsub/docs/push and https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 */

import { generateKeyPair, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'

export interface PushConfig {
  readonly pushEndpoint?: string
  readonly oidcToken?: { readonly serviceAccountEmail?: string; readonly audience?: string }
}

export interface Delivery {
  readonly message: gapi.client.pubsub.PubsubMessage & { readonly messageId: string }
  leasedUntil: number
  attempts: number
}

export interface Subscription {
  resource: gapi.client.pubsub.Subscription & { name: string; topic: string; ackDeadlineSeconds: number }
  deliveries: Delivery[]
}

const kid = '7c0b6913fe13820a333399ace426e70535a9a0bf'
const makePair = promisify(generateKeyPair)
let pair: Promise<{ publicKey: KeyObject; privateKey: KeyObject }> | undefined

/** The process has one key, because making one takes a tenth of a second. */
function thePair() {
  pair ??= makePair('rsa', { modulusLength: 2048 })
  return pair
}

/** Returns the keys as https://www.googleapis.com/oauth2/v3/certs has them. */
export async function publicKeys(): Promise<object> {
  const { publicKey } = await thePair()
  return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }] }
}

/** https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions#jwt_format */
async function signToken(audience: string, email: string, now: number): Promise<string> {
  const { privateKey } = await thePair()
  const iat = Math.floor(now / 1000)
  const id = '113774264463038321964'
  const iss = 'https://accounts.google.com'
  const claims = { aud: audience, azp: id, email, email_verified: true, exp: iat + 3600, iat, iss, sub: id }
  const parts = [{ alg: 'RS256', kid, typ: 'JWT' }, claims]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}

export function createPushes(now: () => number, onEnd: () => void) {
  const ended: { readonly status: number }[] = []
  const underway = new Set<Promise<void>>()
  const closing = new AbortController()
  /** Maps an origin to the one behind its tunnel. Nothing else is reached. */
  const tunnels = new Map<string, string>()

  /** Returns the status of the answer, or 0 if there was none. */
  async function post({ name, pushConfig = {} }: Subscription['resource'], message: Delivery['message']) {
    const { pushEndpoint = '', oidcToken } = pushConfig
    const { origin, pathname, search } = new URL(pushEndpoint)
    const tunnel = tunnels.get(origin)
    if (tunnel === undefined) return 0
    const { serviceAccountEmail: email = '', audience = pushEndpoint } = oidcToken ?? {}
    const signature = oidcToken && { authorization: `Bearer ${await signToken(audience, email, now())}` }
    const { messageId: message_id, publishTime: publish_time } = message
    try {
      const response = await fetch(new URL(`${pathname}${search}`, tunnel), {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close', ...signature },
        body: JSON.stringify({ message: { ...message, message_id, publish_time }, subscription: name }),
        redirect: 'manual',
        signal: closing.signal,
      })
      await response.body?.cancel()
      return response.status
    } catch {
      return 0
    }
  }

  async function push(subscription: Subscription, delivery: Delivery): Promise<void> {
    const status = await post(subscription.resource, delivery.message)
    ended.push({ status })
    // "102, 200, 201, 202, or 204": https://cloud.google.com/pubsub/docs/push#receive_push
    if ([102, 200, 201, 202, 204].includes(status)) {
      subscription.deliveries = subscription.deliveries.filter((each) => each !== delivery)
    }
    // The message comes again when the clock is advanced.
    delivery.leasedUntil = now() + 1
  }

  return {
    /** The posts that ended. The status is 0 if there was no answer. */
    ended: ended as readonly { readonly status: number }[],
    tunnels,
    /** Posts all messages that are not with a receiver that may still answer. */
    begin(subscription: Subscription): void {
      for (const delivery of subscription.deliveries) {
        if (delivery.leasedUntil > now()) continue
        delivery.leasedUntil = now() + subscription.resource.ackDeadlineSeconds * 1000
        const attempt = push(subscription, delivery).finally(() => {
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
