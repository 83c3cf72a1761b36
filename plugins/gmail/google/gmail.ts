/** Performs the calls of Gmail. https://developers.google.com/workspace/gmail/api/reference/rest */

import type { gmail_v1 } from '@googleapis/gmail'
import { type Facts, permanentError, recordOf } from '@reveille/kit'
import type { Call, Calls } from './calls.ts'
import { type Adapter, TooLongAnswer } from './exchange.ts'
import type { Gmail, HistoryPage, ListPage, RawMessage } from './port.ts'
import { createReader } from './reading.ts'
import { gmailService as service } from './service.ts'

/** Gmail's name for the account that consented. */
const userId = 'me'

/**
 * The most bytes of one mail with its text. Attachments are not part of it, so a longer mail is a pasted log, or
 * holds pictures in its HTML. It is then asked for without its text.
 */
const longestMail = 16 * 1_048_576
/** A longer mail is asked for again, one at a time: several that a stranger sends at once would fill the memory. */
const usualMail = 2 * 1_048_576
/** The time for a longer mail, on a slow line. */
const secondsOfLong = 120

const headersOfMetadata = ['From', 'To', 'Subject', 'Date']

/** Gmail lists at most this many in one page. */
const pageSize = 500

const { text, digits, messageId, records, optional, failure } = createReader(service)

/** Has the library write one request. */
type Write = (
  users: gmail_v1.Resource$Users,
  options: { readonly adapter: Adapter; readonly rootUrl: string },
) => Promise<unknown>

export function createGmailPort(call: Calls, baseUrl: string): Gmail {
  /** The root URL goes with each call: as an option of the whole client the library leaves its path out. */
  const askFor = (signal: AbortSignal, write: Write, rest: Omit<Partial<Call>, 'request'> = {}) =>
    call({
      service,
      signal,
      ...rest,
      request: ({ gmail }, adapter) => write(gmail.users, { adapter, rootUrl: baseUrl }),
    })

  /** Asks for what cannot be absent. */
  const ask = (signal: AbortSignal, write: Write) => askFor(signal, write) as Promise<Facts>

  /** Settles when the last long mail has been read. */
  let lastLongMail: Promise<unknown> = Promise.resolve()

  function afterLastLongMail<Result>(read: () => Promise<Result>): Promise<Result> {
    const reading = lastLongMail.then(read)
    lastLongMail = reading.catch(() => undefined)
    return reading
  }

  async function wholeMessage(id: string, signal: AbortSignal): Promise<Facts | undefined> {
    try {
      return await fullMessage(id, signal, usualMail)
    } catch (error) {
      if (!(error instanceof TooLongAnswer)) throw error
    }
    try {
      return await afterLastLongMail(() => fullMessage(id, signal, longestMail))
    } catch (error) {
      if (!(error instanceof TooLongAnswer)) throw error
    }
    return messageHeaders(id, signal)
  }

  function fullMessage(id: string, signal: AbortSignal, bytes: number): Promise<Facts | undefined> {
    const seconds = bytes > usualMail ? secondsOfLong : undefined
    return askFor(signal, (users, options) => users.messages.get({ userId, id, format: 'full' }, options), {
      absent: 404,
      bytes,
      seconds,
    })
  }

  function messageHeaders(id: string, signal: AbortSignal): Promise<Facts | undefined> {
    const request = { userId, id, format: 'metadata', metadataHeaders: headersOfMetadata }
    return askFor(signal, (users, options) => users.messages.get(request, options), { absent: 404 })
  }

  return {
    async profile(signal) {
      const fields = await ask(signal, (users, options) => users.getProfile({ userId }, options))
      return { emailAddress: text(fields, 'emailAddress'), historyId: digits(fields, 'historyId') }
    },

    async labels(signal) {
      const fields = await ask(signal, (users, options) => users.labels.list({ userId }, options))
      return records(fields, 'labels').map((label) => ({ id: text(label, 'id'), name: text(label, 'name') }))
    },

    async watch({ topic, labelId }, signal) {
      const requestBody = { topicName: topic, labelIds: [labelId], labelFilterBehavior: 'include' }
      const fields = await ask(signal, (users, options) => users.watch({ userId, requestBody }, options))
      return { historyId: digits(fields, 'historyId'), endsAt: Number(digits(fields, 'expiration')) }
    },

    async stop(signal) {
      await askFor(signal, (users, options) => users.stop({ userId }, options), { isSilent: true })
    },

    async history({ since, labelId, pageToken }, signal) {
      const request = {
        userId,
        startHistoryId: since,
        labelId,
        historyTypes: ['messageAdded'],
        maxResults: pageSize,
        pageToken,
      }
      const fields = await askFor(signal, (users, options) => users.history.list(request, options), {
        absent: 404,
      })
      if (fields !== undefined) return refuseSelfReference(readHistory(fields), pageToken)
      throw permanentError('history-expired', `Gmail keeps no history as old as ${since} any more.`)
    },

    async message(id, options, signal) {
      const fields = await (options.text ? wholeMessage(id, signal) : messageHeaders(id, signal))
      if (fields === undefined) return undefined
      if (messageId(fields) !== id) throw failure('gave another mail than the one that was asked for')
      return fields as unknown as RawMessage
    },

    async list({ labelId, after, max, pageToken }, signal) {
      // Google compares whole seconds, and does not say whether the given second counts: one second earlier does no harm.
      const second = Math.max(0, Math.floor(after / 1000) - 1)
      const request = {
        userId,
        labelIds: [labelId],
        q: `after:${second}`,
        // The history contains spam and trash too. What is left out is decided in one place, and not here.
        includeSpamTrash: true,
        maxResults: Math.min(Math.max(1, max), pageSize),
        pageToken,
      }
      const fields = await ask(signal, (users, options) => users.messages.list(request, options))
      return refuseSelfReference(readList(fields), pageToken)
    },
  }
}

function readHistory(fields: Facts): HistoryPage {
  const history = records(fields, 'history')
  const messageIds = history.flatMap((record) =>
    records(record, 'messagesAdded').map((added) => messageId(recordOf(added['message']))),
  )
  const ids = history.map((record) => digits(record, 'id'))
  const nextPageToken = optional(fields, 'nextPageToken')
  return {
    messageIds: [...new Set(messageIds)],
    ...(ids.length > 0 && { lastId: ids.reduce((last, id) => (BigInt(id) > BigInt(last) ? id : last)) }),
    historyId: digits(fields, 'historyId'),
    ...(nextPageToken !== undefined && { nextPageToken }),
  }
}

/** Refuses a page that names itself as the next one, because it would be asked for without end. */
function refuseSelfReference<Page extends { readonly nextPageToken?: string }>(
  page: Page,
  asked: string | undefined,
): Page {
  if (asked === undefined || page.nextPageToken !== asked) return page
  throw failure('gave a page that is followed by itself')
}

function readList(fields: Facts): ListPage {
  const nextPageToken = optional(fields, 'nextPageToken')
  return {
    messageIds: records(fields, 'messages').map(messageId),
    ...(nextPageToken !== undefined && { nextPageToken }),
  }
}
