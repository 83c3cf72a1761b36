/** Reads Gmail's notifications, which say that the history of a mailbox has moved. */

import { asRecord, asString } from '@reveille/kit'
import type { Notification } from './port.ts'

/**
 * Reads a notification. `received` holds a `message`, as pulled and posted notifications both do, or is one. Returns
 * undefined if it is not a message of Pub/Sub.
 * https://docs.cloud.google.com/pubsub/docs/reference/rest/v1/PubsubMessage
 */
export function readNotification(received: unknown): Notification | undefined {
  const fields = asRecord(received)
  const message = asRecord(fields?.['message']) ?? fields
  const messageId = asString(message?.['messageId']) ?? asString(message?.['message_id'])
  if (messageId === undefined || messageId === '') return undefined
  const ackId = asString(fields?.['ackId'])
  const about = readData(message?.['data'])
  return { messageId, ...(ackId !== undefined && { ackId }), ...(about !== undefined && { about }) }
}

/** https://developers.google.com/workspace/gmail/api/guides/push#receive_notifications */
function readData(data: unknown): Notification['about'] {
  if (typeof data !== 'string') return undefined
  const fields = asRecord(parse(Buffer.from(data, 'base64').toString('utf8')))
  const emailAddress = asString(fields?.['emailAddress'])
  const historyId = asString(fields?.['historyId'])
  if (emailAddress === undefined || emailAddress === '' || historyId === undefined) return undefined
  return /^\d{1,20}$/.test(historyId) ? { emailAddress, historyId } : undefined
}

/** Keeps the history id as it is written: Gmail sends it as a number, which may be too large to be exact. */
function parse(text: string): unknown {
  const asWritten = (key: string, value: unknown, context?: { readonly source?: string }) =>
    key === 'historyId' && typeof value === 'number' ? context?.source : value
  try {
    return JSON.parse(text, asWritten)
  } catch {
    return undefined
  }
}
