/** Answers the handshakes of the table's providers. Everything here is pure: the host performs what an answer asks for. */

import { createHmac } from 'node:crypto'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { HandshakeKind, ProviderRow } from '../../providers/scheme.ts'
import { secretsOf } from '../../providers/secrets.ts'
import { isSameSecret } from '../compare.ts'
import { parseSnsAddress } from '../families/sns-address.ts'
import {
  emptyAnswer,
  fieldOf,
  type Handshakes,
  isEcho,
  isIssuedSecret,
  jsonAnswer,
  oneText,
  onlyFieldOf,
  plainAnswer,
} from './handshake.ts'

/** The signed parts of a request hold colons and braces, so an answer to a token of these characters can sign no request. */
const harmless = /^[\w+/=.-]{1,256}$/

function isSnsConfirmation(address: unknown, topic: string): address is string {
  const url = parseSnsAddress(address)
  if (url?.pathname !== '/') return false
  const { searchParams } = url
  return (
    searchParams.getAll('Action').join() === 'ConfirmSubscription' &&
    searchParams.getAll('TopicArn').join() === topic
  )
}

const ratePattern = /^(\*|[1-9]\d{0,8})$/

const kinds: Readonly<Record<HandshakeKind, (policy: VerifyPolicy) => Handshakes | undefined>> = {
  /** https://docs.slack.dev/reference/events/url_verification/ */
  slack() {
    return {
      /** Echoed to unauthenticated clients, the challenge would let anybody register the address for an app of their own. */
      answer({ isTrusted, payload }) {
        const challenge = fieldOf(payload, 'challenge')
        if (!isTrusted || fieldOf(payload, 'type') !== 'url_verification' || !isEcho(challenge))
          return undefined
        return jsonAnswer({ challenge }, 'Slack asked for its challenge')
      },
    }
  },

  /** https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint */
  zoom({ secret }) {
    const newest = secretsOf(secret)[0]?.text
    if (newest === undefined) return undefined
    return {
      answer({ isTrusted, payload }) {
        if (!isTrusted || fieldOf(payload, 'event') !== 'endpoint.url_validation') return undefined
        const plain = fieldOf(fieldOf(payload, 'payload'), 'plainToken')
        if (typeof plain !== 'string' || !harmless.test(plain)) return undefined
        const encryptedToken = createHmac('sha256', newest).update(plain).digest('hex')
        return jsonAnswer(
          { plainToken: plain, encryptedToken },
          'Zoom asked whether the secret is known here',
        )
      },
    }
  },

  /** https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests */
  meta({ verifyToken }) {
    if (verifyToken === undefined || verifyToken === '') return undefined
    return {
      methods: ['GET'],
      answer({ method, query }) {
        if (method !== 'GET' || query['hub.mode'] !== 'subscribe') return undefined
        const challenge = query['hub.challenge']
        const token = oneText(query['hub.verify_token']) ?? ''
        if (!isSameSecret(token, verifyToken)) return emptyAnswer(403, 'the verify token is another one')
        return isEcho(challenge) ? plainAnswer(challenge, 'Meta asked for its challenge') : undefined
      },
    }
  },

  /**
   * Discord has two PINGs: of interactions, https://docs.discord.com/developers/interactions/overview, and of webhook
   * events, https://docs.discord.com/developers/events/webhook-events.
   */
  discord() {
    return {
      /** Discord signs some PINGs badly on purpose, and wants those refused. */
      answer({ isTrusted, payload }) {
        // A webhook event is of type 1 too, which among interactions is the PING.
        if (!isTrusted || fieldOf(payload, 'event') !== undefined) return undefined
        switch (fieldOf(payload, 'type')) {
          case 0:
            return emptyAnswer(204, 'Discord asked for a PING of webhook events to be answered')
          case 1:
            return jsonAnswer({ type: 1 }, 'Discord asked for a PING of interactions to be answered')
          default:
            return undefined
        }
      },
    }
  },

  /** https://docs.aws.amazon.com/sns/latest/dg/http-subscription-confirmation-json.html */
  'aws-sns'({ topicArns = [] }) {
    return {
      answer({ isTrusted, payload }) {
        if (!isTrusted) return undefined
        const topic = fieldOf(payload, 'TopicArn')
        switch (fieldOf(payload, 'Type')) {
          case 'SubscriptionConfirmation': {
            const address = fieldOf(payload, 'SubscribeURL')
            if (typeof topic !== 'string' || !topicArns.includes(topic) || !isSnsConfirmation(address, topic))
              return emptyAnswer(403, 'SNS asked for a subscription that is not one to a configured topic')
            const reason = 'SNS asked for a subscription to be confirmed'
            return { ...emptyAnswer(200, reason), confirm: address }
          }
          // Fetching its SubscribeURL would subscribe again, although the subscription was ended on purpose.
          case 'UnsubscribeConfirmation':
            return emptyAnswer(200, 'SNS reported that a subscription was taken away')
          default:
            return undefined
        }
      },
    }
  },

  /** https://developers.intercom.com/docs/webhooks/setting-up-webhooks */
  intercom() {
    return {
      methods: ['HEAD'],
      answer({ method, isTrusted, payload }) {
        if (method === 'HEAD') return emptyAnswer(200, 'Intercom checked that the address answers')
        if (!isTrusted || fieldOf(payload, 'topic') !== 'ping') return undefined
        return emptyAnswer(200, 'Intercom asked for a ping to be answered')
      },
    }
  },

  /** monday.com does not sign its challenge: https://developer.monday.com/api-reference/reference/webhooks */
  monday() {
    return {
      unsigned: true,
      answer({ method, payload }) {
        const challenge = onlyFieldOf(payload, 'challenge')
        if (method !== 'POST' || !isEcho(challenge)) return undefined
        return jsonAnswer({ challenge }, 'monday.com asked for its challenge')
      },
    }
  },

  /**
   * Notion hands out its secret once, unsigned, to the address that it is to be used for. It is stored only until there is a
   * secret. A body that holds one is never an event, whose text a model could read.
   * https://developers.notion.com/reference/webhooks#step-2-verifying-the-subscription
   */
  notion({ secret }) {
    const hasSecret = secretsOf(secret).length > 0
    return {
      unsigned: !hasSecret,
      answer({ method, payload, isTrusted }) {
        if (method !== 'POST') return undefined
        const value = onlyFieldOf(payload, 'verification_token')
        if (!hasSecret && isIssuedSecret(value)) {
          const reason = 'Notion handed out its secret, which is kept for the operator'
          return { ...emptyAnswer(200, reason), issuedSecret: { name: 'verification-token', value } }
        }
        if (!isTrusted || fieldOf(payload, 'verification_token') === undefined) return undefined
        return emptyAnswer(200, 'Notion showed a secret again, which is no event')
      },
    }
  },

  /** https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks#notificationurl-validation */
  'microsoft-graph'() {
    return {
      unsigned: true,
      /** Echoes the decoded text as it is: in plain text, markup has no effect. */
      answer({ method, query }) {
        const validationToken = query['validationToken']
        if (method !== 'POST' || !isEcho(validationToken)) return undefined
        return plainAnswer(validationToken, 'Microsoft Graph asked for its validation token')
      },
    }
  },

  /**
   * A sender of CloudEvents asks whether it may send. Its `WebHook-Request-Callback` is an address that a client chose, and
   * is never fetched. https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md#4-abuse-protection
   */
  cloudevents({ allowedOrigins = [] }) {
    if (allowedOrigins.length === 0) return undefined
    return {
      methods: ['OPTIONS'],
      answer({ method, headers }) {
        const asking = oneText(headers['webhook-request-origin'])?.toLowerCase() ?? ''
        if (method !== 'OPTIONS' || asking === '') return undefined
        const origin = allowedOrigins.find((one) => one.toLowerCase() === asking)
        if (origin === undefined)
          return emptyAnswer(403, 'the sender that asked is not one of `allowedOrigins`')
        const rate = oneText(headers['webhook-request-rate'])
        return {
          ...emptyAnswer(200, 'a sender of CloudEvents asked whether it may send'),
          headers: {
            allow: 'POST',
            'webhook-allowed-origin': origin,
            ...(rate !== undefined && ratePattern.test(rate) && { 'webhook-allowed-rate': rate }),
          },
        }
      },
    }
  },
}

/** Returns undefined if the provider has no handshake, or if the policy lacks the values for its answer. */
export function createHandshakes(
  { handshake }: Pick<ProviderRow, 'handshake'>,
  policy: VerifyPolicy,
): Handshakes | undefined {
  return handshake && kinds[handshake](policy)
}
