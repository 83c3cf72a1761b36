/**
 * Starts the gateway that is fuzzed, with an endpoint for each way of authentication and for other settings of
 * interest.
 */

import type { Files } from '../../installation.ts'
import { discordPublicKey, publicUrl, secrets } from './signers.ts'

export const hookToken = 'fuzz-hook-token-0123456789abcdef'
export const endpointToken = 'fuzz-endpoint-token-0123456789ab'
export const gatewayToken = 'fuzz-gateway-token-0123456789abc'

/** A short limit, so that an unfinished request is over soon. Milliseconds. */
export const bodyTimeoutMs = 150
export const maxBodyBytes = 65_536

/** Each endpoint has a mapping that takes any body. */
const mapped = [
  ...['plain', 'own', 'github', 'stripe', 'slack', 'discord', 'twilio', 'mailgun', 'sns', 'meta'],
  ...['both', 'rated'],
] as const

export const gatewayFiles: Files = {
  'reveille.yaml': JSON.stringify({
    gateway: { port: 0, auth: { token: gatewayToken }, log: { level: 'warn', format: 'json' } },
    hooks: {
      enabled: true,
      token: hookToken,
      maxBodyBytes,
      bodyTimeout: `${bodyTimeoutMs}ms`,
      endpoints: {
        own: { token: endpointToken },
        github: { verify: { provider: 'github', secret: secrets.github } },
        stripe: { verify: { provider: 'stripe', secret: secrets.stripe } },
        slack: { verify: { provider: 'slack', secret: secrets.slack } },
        discord: { verify: { provider: 'discord', publicKey: discordPublicKey } },
        twilio: { verify: { provider: 'twilio', secret: secrets.twilio, publicUrl } },
        mailgun: { verify: { provider: 'mailgun', secret: secrets.mailgun } },
        sns: { verify: { provider: 'aws-sns', topicArns: ['arn:aws:sns:us-east-1:123456789012:a'] } },
        meta: { verify: { provider: 'meta', secret: secrets.meta, verifyToken: secrets.metaVerify } },
        both: { auth: 'both', verify: { provider: 'github', secret: secrets.github } },
        rated: { rate: { client: '3/1m' } },
      },
    },
    history: { bodies: 'all' },
  }),
  'mappings/all.json': JSON.stringify({
    mappings: [
      ...mapped.map((path) => ({
        match: { path },
        action: 'wake',
        mode: 'next-heartbeat',
        text: 'It says: {{json payload}}',
      })),
      {
        match: {
          path: 'repos/:owner/:name',
          headers: { 'x-event': { exists: true } },
          body: { a: { exists: true } },
        },
        action: 'wake',
        mode: 'next-heartbeat',
        text: '{{params.owner}} {{headers.[x-event]}} {{query.q}} {% $string(payload.a) %}',
      },
      {
        match: { path: 'once' },
        dedupe: { key: 'payload.id' },
        action: 'wake',
        mode: 'next-heartbeat',
        text: 'Once {{id}}',
      },
    ],
  }),
}

export const endpoints = ['wake', 'agent', ...mapped, 'once', 'repos/a/b', 'nowhere'] as const
