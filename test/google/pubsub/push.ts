/**
 * Posts messages to the address of a subscription. https://cloud.google.com/pubsub/docs/push and
 * https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 */

import { createHash, generateKeyPair, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { GoogleClock } from '../clock.ts'
import { isLoopback, type PubSubMessage, type PushConfig } from './subscriptions.ts'

export interface Push {
  readonly endpoint: string
  readonly messageId: string
  /** 0 if there was no answer. */
  readonly status: number
  readonly at: number
}

interface Signer {
  readonly kid: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const makePair = promisify(generateKeyPair)
let signer: Promise<Signer> | undefined

/** The process has one key, because making one takes a tenth of a second. */
function theSigner(): Promise<Signer> {
  signer ??= makePair('rsa', { modulusLength: 2048 }).then(({ publicKey, privateKey }) => {
    const der = publicKey.export({ type: 'spki', format: 'der' })
    return { publicKey, privateKey, kid: createHash('sha1').update(der).digest('hex') }
  })
  return signer
}

/** Returns the keys as https://www.googleapis.com/oauth2/v3/certs has them. */
export async function publicKeys(): Promise<object> {
  const { publicKey, kid } = await theSigner()
  return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }] }
}

export interface Claims {
  readonly audience: string
  readonly email: string
}

/**
 * Makes an OIDC token for an hour. https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions#jwt_format
 */
async function signToken({ audience, email }: Claims, now: number): Promise<string> {
  const { privateKey, kid } = await theSigner()
  const iat = Math.floor(now / 1000)
  const claims = {
    aud: audience,
    azp: String(BigInt(`0x${createHash('sha1').update(email).digest('hex').slice(0, 17)}`)),
    email,
    email_verified: true,
    exp: iat + 3600,
    iat,
    iss: 'https://accounts.google.com',
  }
  const parts = [
    { alg: 'RS256', kid, typ: 'JWT' },
    { ...claims, sub: claims.azp },
  ]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}

interface PushCall {
  readonly subscription: string
  readonly config: PushConfig
  readonly message: PubSubMessage
  readonly clock: GoogleClock
  /** Returns the origin behind a tunnel. */
  readonly tunnels: ReadonlyMap<string, string>
  readonly signal: AbortSignal
}

/** Returns the status of the answer, or 0 if there was none. */
export async function push({
  subscription,
  config,
  message,
  clock,
  tunnels,
  signal,
}: PushCall): Promise<number> {
  const { pushEndpoint = '', oidcToken } = config
  const url = new URL(pushEndpoint)
  const tunnel = tunnels.get(url.origin)
  // Tests reach nothing but loopback.
  if (tunnel === undefined && !isLoopback(url.hostname)) return 0
  const target = tunnel === undefined ? url : new URL(`${url.pathname}${url.search}`, tunnel)
  const { data, messageId, publishTime } = message
  const body = {
    message: { data, messageId, message_id: messageId, publishTime, publish_time: publishTime },
    subscription,
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)',
    from: 'noreply@google.com',
    connection: 'close',
  }
  if (oidcToken !== undefined) {
    const { serviceAccountEmail: email = '', audience = pushEndpoint } = oidcToken
    headers['authorization'] = `Bearer ${await signToken({ audience, email }, clock.now())}`
  }
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      redirect: 'manual',
      signal,
    })
    await response.body?.cancel()
    return response.status
  } catch {
    return 0
  }
}

/** "102, 200, 201, 202, or 204": https://cloud.google.com/pubsub/docs/push#receive_push */
export function isAcknowledgement(status: number): boolean {
  return [102, 200, 201, 202, 204].includes(status)
}
