/** Signs as vendors do, with test keys, to mix valid requests with invalid ones. */

import { createHmac } from 'node:crypto'
import {
  createDiscordKeys,
  hmacOf,
  seconds,
  signedByDiscord,
  signedByGitHub,
  signedBySlack,
  signedByStripe,
} from '../../signed.ts'

export const secrets = {
  github: 'fuzz-github-secret',
  stripe: 'whsec_fuzz-stripe-secret',
  slack: 'fuzz-slack-secret',
  twilio: 'fuzz-twilio-secret',
  mailgun: 'fuzz-mailgun-secret',
  meta: 'fuzz-meta-secret',
  metaVerify: 'fuzz-meta-verify-token',
}
export const publicUrl = 'https://hooks.example.com/hooks/twilio'

const discord = createDiscordKeys()
export const discordPublicKey = discord.publicKey

export interface Signed<Body = string> {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

/** Each signs a body that was not signed before. */
export const signers = {
  github: (id) => {
    const body = JSON.stringify({ action: 'opened', id })
    return { body, headers: { ...signedByGitHub(body, secrets.github), 'x-github-delivery': id } }
  },
  stripe: (id) => {
    const body = JSON.stringify({ id: `evt_${id}`, type: 'invoice.paid' })
    return { body, headers: signedByStripe(body, secrets.stripe) }
  },
  slack: (id) => {
    const body = JSON.stringify({ type: 'event_callback', event_id: `Ev${id}` })
    return { body, headers: signedBySlack(body, secrets.slack) }
  },
  discord: (id) => {
    const body = JSON.stringify({ type: 2, id })
    return { body, headers: signedByDiscord(body, discord.privateKey) }
  },
  twilio: (id) => ({
    body: `Body=hello&MessageSid=SM${id}`,
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Twilio-Signature': createHmac('sha1', secrets.twilio)
        .update(`${publicUrl}BodyhelloMessageSidSM${id}`)
        .digest('base64'),
    },
  }),
  mailgun: (id) => {
    const [timestamp, token] = [String(seconds()), `token-${id}`]
    const signature = hmacOf(timestamp + token, secrets.mailgun)
    const body = JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': { id } })
    return { body, headers: {} }
  },
} satisfies Record<string, (id: string) => Signed>
