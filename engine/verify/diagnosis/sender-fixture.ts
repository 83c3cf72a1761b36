/** Makes senders for tests: each signs as its guide says, so that one thing at a time can be made wrong. */

import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { createCertificate } from '../families/certificate-fixture.ts'
import type { SignedRequest, VerifyDependencies } from '../verifier.ts'

export const now = Date.UTC(2026, 0, 15, 12)
const seconds = String(now / 1000)

/** A text in every body, so that a test finds it wherever it leaks. */
export const canary = 'canary-of-the-body'

export interface Sender {
  readonly verify: VerifyPolicy
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signatureHeader?: string
  readonly signsTime?: boolean
  /** True if it signs bytes, and not fields. */
  readonly signsBytes: boolean
  /** `key` takes the place of its own secret. */
  sign(body: string, key?: string): Readonly<Record<string, string>>
}

const json = JSON.stringify({
  id: 'evt_1',
  type: canary,
  url: 'https://a.example/b',
  name: 'Zoë & co',
  list: [1, 2],
})
const hmac = (hash: string, key: string | Buffer, text: string) => createHmac(hash, key).update(text)

export const otherSecret = 'the-secret-of-somebody-else-0123456789'

const discord = generateKeyPairSync('ed25519')
const sendgrid = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const discordKey = discord.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
const twilioUrl = 'https://hooks.example.com/hooks/twilio'

export const senders = {
  github: {
    verify: { provider: 'github', secret: 'github-secret-0123456789abcdef' },
    body: json,
    signatureHeader: 'x-hub-signature-256',
    signsBytes: true,
    sign: (body, key = 'github-secret-0123456789abcdef') => ({
      'x-hub-signature-256': `sha256=${hmac('sha256', key, body).digest('hex')}`,
    }),
  },
  stripe: {
    verify: { provider: 'stripe', secret: 'whsec_stripe0123456789abcdef' },
    body: json,
    signatureHeader: 'stripe-signature',
    signsTime: true,
    signsBytes: true,
    sign: (body, key = 'whsec_stripe0123456789abcdef') => ({
      'stripe-signature': `t=${seconds},v1=${hmac('sha256', key, `${seconds}.${body}`).digest('hex')}`,
    }),
  },
  slack: {
    verify: { provider: 'slack', secret: 'slack-secret-0123456789abcdef' },
    body: json,
    signatureHeader: 'x-slack-signature',
    signsTime: true,
    signsBytes: true,
    sign: (body, key = 'slack-secret-0123456789abcdef') => ({
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${hmac('sha256', key, `v0:${seconds}:${body}`).digest('hex')}`,
    }),
  },
  'standard-webhooks': {
    verify: { provider: 'standard-webhooks', secret: 'whsec_c3RhbmRhcmQtd2ViaG9va3MtMDEyMzQ1Njc4OQ==' },
    body: json,
    signatureHeader: 'webhook-signature',
    signsTime: true,
    signsBytes: true,
    sign(body, key = 'whsec_c3RhbmRhcmQtd2ViaG9va3MtMDEyMzQ1Njc4OQ==') {
      const bytes = Buffer.from(key.replace('whsec_', ''), 'base64')
      const digest = hmac('sha256', bytes, `msg_1.${seconds}.${body}`).digest('base64')
      return { 'webhook-id': 'msg_1', 'webhook-timestamp': seconds, 'webhook-signature': `v1,${digest}` }
    },
  },
  twilio: {
    verify: { provider: 'twilio', secret: 'twilio-secret-0123456789abcdef', publicUrl: twilioUrl },
    body: `Body=${canary}&From=%2B49`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    signatureHeader: 'x-twilio-signature',
    signsBytes: false,
    sign(body, key = 'twilio-secret-0123456789abcdef') {
      const fields = [...new URLSearchParams(body)].sort().flat().join('')
      return { 'x-twilio-signature': hmac('sha1', key, twilioUrl + fields).digest('base64') }
    },
  },
  discord: {
    verify: { provider: 'discord', publicKey: discordKey.toString('hex') },
    body: json,
    signatureHeader: 'x-signature-ed25519',
    signsTime: true,
    signsBytes: true,
    sign: (body) => ({
      'x-signature-timestamp': seconds,
      'x-signature-ed25519': sign(null, Buffer.from(seconds + body), discord.privateKey).toString('hex'),
    }),
  },
  sendgrid: {
    verify: {
      provider: 'sendgrid',
      publicKey: sendgrid.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    },
    body: `[${json}]`,
    signatureHeader: 'x-twilio-email-event-webhook-signature',
    signsBytes: true,
    sign: (body) => ({
      'x-twilio-email-event-webhook-timestamp': seconds,
      'x-twilio-email-event-webhook-signature': sign(
        'sha256',
        Buffer.from(seconds + body),
        sendgrid.privateKey,
      ).toString('base64'),
    }),
  },
} as const satisfies Record<string, Sender>

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const certificate = createCertificate(rsa)
export const topic = 'arn:aws:sns:eu-central-1:123456789012:alerts'

/** Returns a message of SNS, whose signature is in its body. https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html */
export function snsMessage(fields: Readonly<Record<string, string>> = {}): string {
  const message: Record<string, string> = {
    Type: 'Notification',
    MessageId: 'a4d6fd4f-2184-491b-afe3-2ad935e57c0e',
    TopicArn: topic,
    Message: canary,
    Timestamp: '2026-01-15T11:59:59.123Z',
    SignatureVersion: '2',
    SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    ...fields,
  }
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const signed = names
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('')
  const signature = sign('sha256', Buffer.from(signed), rsa.privateKey).toString('base64')
  return JSON.stringify({ ...message, Signature: signature })
}

/** Downloads the certificate for every address. */
export const dependencies: VerifyDependencies = { download: async () => certificate }

export function requestOf(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
  more: Partial<SignedRequest> = {},
): SignedRequest {
  const rawBody = typeof body === 'string' ? Buffer.from(body) : body
  return { method: 'POST', target: '/hooks/sender', headers, rawBody, now, ...more }
}
