/** Owns reading a posted notification, until the room of Google does. */

import { recordOf, textOf } from '@reveille/kit'
import type { Notification } from '../google/port.ts'

/** Undefined where it is no message of Pub/Sub's. https://cloud.google.com/pubsub/docs/push#receive_push */
export function readNotification(body: unknown): Notification | undefined {
  const message = recordOf(recordOf(body)?.['message'])
  const messageId = textOf(message?.['messageId'])
  if (messageId === undefined) return undefined
  const data = recordOf(parse(Buffer.from(textOf(message?.['data']) ?? '', 'base64').toString()))
  const emailAddress = textOf(data?.['emailAddress'])
  const historyId = String(data?.['historyId'] ?? '')
  return emailAddress ? { messageId, about: { emailAddress, historyId } } : { messageId }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
