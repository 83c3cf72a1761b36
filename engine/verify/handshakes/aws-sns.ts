/** Owns what SNS asks besides notifications: https://docs.aws.amazon.com/sns/latest/dg/http-subscription-confirmation-json.html */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { parseSnsAddress } from '../families/sns-address.ts'
import type { Handshakes } from '../provider.ts'
import { emptyAnswer, fieldOf } from './answers.ts'

export function createSnsHandshake({ topicArns = [] }: VerifyPolicy): Handshakes {
  return {
    methods: [],
    unsigned: false,
    answer({ isTrusted, payload }) {
      if (!isTrusted) return undefined
      const topic = fieldOf(payload, 'TopicArn')
      switch (fieldOf(payload, 'Type')) {
        case 'SubscriptionConfirmation': {
          const address = fieldOf(payload, 'SubscribeURL')
          if (typeof topic !== 'string' || !topicArns.includes(topic) || !isConfirmation(address, topic))
            return emptyAnswer(403, 'SNS asked for a subscription that is not one to a configured topic')
          const reason = 'SNS asked for a subscription to be confirmed'
          return { ...emptyAnswer(200, reason), confirm: address }
        }
        // Its SubscribeURL would subscribe again: whoever took the subscription away had a reason.
        case 'UnsubscribeConfirmation':
          return emptyAnswer(200, 'SNS told that a subscription was taken away')
        default:
          return undefined
      }
    },
  }
}

function isConfirmation(address: unknown, topic: string): address is string {
  const url = parseSnsAddress(address)
  if (url?.pathname !== '/') return false
  const { searchParams } = url
  return (
    searchParams.getAll('Action').join() === 'ConfirmSubscription' &&
    searchParams.getAll('TopicArn').join() === topic
  )
}
