/** Makes senders for tests: each signs as its guide says, so that one thing at a time can be made wrong. */

import { generateKeyPairSync, sign } from 'node:crypto'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { digest, seconds } from '../signing-fixture.ts'

/** A text in every body, so that a test finds it wherever it leaks. */
export const canary = 'canary-of-the-body'

export interface Sender {
  readonly verify: VerifyPolicy
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signatureHeader: string
  readonly signsTime?: boolean
  /** True if it signs fields, and not bytes. */
  readonly signsFields?: boolean
  /** `key` takes the place of its own secret. */
  sign(body: string, key?: string): Readonly<Record<string, string>>
}

const object = { id: 'evt_1', type: canary, url: 'https://a.example/b', name: 'Zoë & co', list: [1, 2] }
const json = JSON.stringify(object)

const discord = generateKeyPairSync('ed25519')
const sendgrid = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const twilioUrl = 'https://hooks.example.com/hooks/twilio'
const secrets = {
  github: 'github-secret-0123456789abcdef',
  stripe: 'whsec_stripe0123456789abcdef',
  standard: 'whsec_c3RhbmRhcmQtd2ViaG9va3MtMDEyMzQ1Njc4OQ==',
  twilio: 'twilio-secret-0123456789abcdef',
}

export const senders = {
  github: {
    verify: { provider: 'github', secret: secrets.github },
    body: json,
    signatureHeader: 'x-hub-signature-256',
    sign: (body, key = secrets.github) => ({ 'x-hub-signature-256': `sha256=${digest(body, key)}` }),
  },
  stripe: {
    verify: { provider: 'stripe', secret: secrets.stripe },
    body: json,
    signatureHeader: 'stripe-signature',
    signsTime: true,
    sign: (body, key = secrets.stripe) => ({
      'stripe-signature': `t=${seconds},v1=${digest(`${seconds}.${body}`, key)}`,
    }),
  },
  'standard-webhooks': {
    verify: { provider: 'standard-webhooks', secret: secrets.standard },
    body: json,
    signatureHeader: 'webhook-signature',
    signsTime: true,
    sign(body, key = secrets.standard) {
      const bytes = Buffer.from(key.replace('whsec_', ''), 'base64')
      const signature = `v1,${digest(`msg_1.${seconds}.${body}`, bytes, 'sha256', 'base64')}`
      return { 'webhook-id': 'msg_1', 'webhook-timestamp': `${seconds}`, 'webhook-signature': signature }
    },
  },
  twilio: {
    verify: { provider: 'twilio', secret: secrets.twilio, publicUrl: twilioUrl },
    body: `Body=${canary}&From=%2B49`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    signatureHeader: 'x-twilio-signature',
    signsFields: true,
    sign(body, key = secrets.twilio) {
      const fields = [...new URLSearchParams(body)].sort().flat().join('')
      return { 'x-twilio-signature': digest(twilioUrl + fields, key, 'sha1', 'base64') }
    },
  },
  discord: {
    verify: { provider: 'discord', publicKey: rawKeyOf(discord) },
    body: json,
    signatureHeader: 'x-signature-ed25519',
    signsTime: true,
    sign: (body) => ({
      'x-signature-timestamp': `${seconds}`,
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
    sign(body) {
      const signature = sign('sha256', Buffer.from(seconds + body), sendgrid.privateKey).toString('base64')
      return {
        'x-twilio-email-event-webhook-timestamp': `${seconds}`,
        'x-twilio-email-event-webhook-signature': signature,
      }
    },
  },
} as const satisfies Record<string, Sender>

/** Returns a public key of Ed25519 as Discord shows it. */
export function rawKeyOf({ publicKey }: typeof discord = generateKeyPairSync('ed25519')): string {
  return publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex')
}
