/**
 * Owns the question of a CloudEvents sender whether it may send:
 * https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md#4-abuse-protection
 */

import type { VerifyPolicy } from '../../config/configuration.ts'
import type { Handshakes } from '../provider.ts'
import { emptyAnswer, oneText } from './answers.ts'

const ratePattern = /^(\*|[1-9]\d{0,8})$/

/** `WebHook-Request-Callback` is an address that a stranger names, and is never fetched. */
export function createCloudEventsHandshake({ allowedOrigins = [] }: VerifyPolicy): Handshakes | undefined {
  if (allowedOrigins.length === 0) return undefined
  return {
    methods: ['OPTIONS'],
    unsigned: false,
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
}
