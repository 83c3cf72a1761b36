/** Owns signing as vendors sign: the least of it, with keys of our own, to mix good requests among bad ones. */

import { createHmac, generateKeyPairSync, sign } from 'node:crypto'

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

const discord = generateKeyPairSync('ed25519')
/** Of DER, the last 32 bytes are the key itself. */
export const discordPublicKey = discord.publicKey
  .export({ format: 'der', type: 'spki' })
  .subarray(-32)
  .toString('hex')

const hmac = (secret: string, text: string, hash = 'sha256') => createHmac(hash, secret).update(text)
const seconds = () => String(Math.floor(Date.now() / 1000))

export interface Signed {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Each signs a body that nobody has signed before. */
export const signers: Readonly<Record<string, (id: string) => Signed>> = {
  github: (id) => {
    const body = JSON.stringify({ action: 'opened', id })
    return {
      body,
      headers: {
        'X-Hub-Signature-256': `sha256=${hmac(secrets.github, body).digest('hex')}`,
        'X-GitHub-Delivery': id,
      },
    }
  },
  stripe: (id) => {
    const [body, t] = [JSON.stringify({ id: `evt_${id}`, type: 'invoice.paid' }), seconds()]
    return {
      body,
      headers: { 'Stripe-Signature': `t=${t},v1=${hmac(secrets.stripe, `${t}.${body}`).digest('hex')}` },
    }
  },
  slack: (id) => {
    const [body, t] = [JSON.stringify({ type: 'event_callback', event_id: `Ev${id}` }), seconds()]
    return {
      body,
      headers: {
        'X-Slack-Request-Timestamp': t,
        'X-Slack-Signature': `v0=${hmac(secrets.slack, `v0:${t}:${body}`).digest('hex')}`,
      },
    }
  },
  discord: (id) => {
    const [body, t] = [JSON.stringify({ type: 2, id }), seconds()]
    return {
      body,
      headers: {
        'X-Signature-Timestamp': t,
        'X-Signature-Ed25519': sign(null, Buffer.from(t + body), discord.privateKey).toString('hex'),
      },
    }
  },
  twilio: (id) => ({
    body: `Body=hello&MessageSid=SM${id}`,
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Twilio-Signature': hmac(secrets.twilio, `${publicUrl}BodyhelloMessageSidSM${id}`, 'sha1').digest(
        'base64',
      ),
    },
  }),
  mailgun: (id) => {
    const [timestamp, token] = [seconds(), `token-${id}`]
    const signature = hmac(secrets.mailgun, timestamp + token).digest('hex')
    const body = JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': { id } })
    return { body, headers: {} }
  },
}
