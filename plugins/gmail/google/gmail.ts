/** Owns the calls of Gmail. https://developers.google.com/workspace/gmail/api/reference/rest */

import { type Facts, PluginError, recordOf } from '@reveille/kit'
import type { Calls } from './calls.ts'
import { TooLongAnswer } from './exchange.ts'
import type { Gmail, HistoryPage, ListPage, RawMessage } from './port.ts'
import { createReader } from './reading.ts'
import { gmailService as service } from './service.ts'

/** The one who consented. */
const userId = 'me'

/**
 * Of one mail with its text. Attachments are not in it; text of this length is a log somebody has pasted, or pictures
 * written into HTML, and is asked for without its text then. Bytes.
 */
const longestMail = 16 * 1_048_576
/** What is longer is asked for once more, one mail at a time: a few that a stranger sends at once would fill the memory. */
const usualMail = 2 * 1_048_576
/** For what is longer, on a slow line. */
const secondsOfLong = 120

const headersOfMetadata = ['From', 'To', 'Subject', 'Date']

/** The most that Gmail lists in one page. */
const pageSize = 500

const { text, digits, messageId, records, optional, failure } = createReader(service)

export function createGmailPort(call: Calls, baseUrl: string): Gmail {
  /** By call and not for the whole client, where the library would leave its path out. */
  const rootUrl = baseUrl

  /** The long mail that is read at this moment. */
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<Result>(perform: () => Promise<Result>): Promise<Result> {
    const own = turn.then(perform)
    turn = own.catch(() => undefined)
    return own
  }

  async function wholeMessage(id: string, signal: AbortSignal): Promise<Facts | undefined> {
    try {
      return await rawMessage(id, signal, usualMail)
    } catch (error) {
      if (!(error instanceof TooLongAnswer)) throw error
    }
    try {
      return await inTurn(() => rawMessage(id, signal, longestMail))
    } catch (error) {
      if (!(error instanceof TooLongAnswer)) throw error
    }
    return rawMessage(id, signal)
  }

  /** `bytes`: of a mail with its text. Absent: without. */
  async function rawMessage(id: string, signal: AbortSignal, bytes?: number): Promise<Facts | undefined> {
    const isFull = bytes !== undefined
    const format = isFull ? 'full' : 'metadata'
    return call({
      service,
      signal,
      absent: 404,
      ...(isFull && { bytes, seconds: bytes > usualMail ? secondsOfLong : undefined }),
      request: ({ gmail }, adapter) =>
        gmail.users.messages.get(
          { userId, id, format, ...(!isFull && { metadataHeaders: headersOfMetadata }) },
          { adapter, rootUrl },
        ),
    })
  }

  return {
    async profile(signal) {
      const fields = await call({
        service,
        signal,
        request: ({ gmail }, adapter) => gmail.users.getProfile({ userId }, { adapter, rootUrl }),
      })
      return { emailAddress: text(fields, 'emailAddress'), historyId: digits(fields, 'historyId') }
    },

    async labels(signal) {
      const fields = await call({
        service,
        signal,
        request: ({ gmail }, adapter) => gmail.users.labels.list({ userId }, { adapter, rootUrl }),
      })
      return records(fields, 'labels').map((label) => ({ id: text(label, 'id'), name: text(label, 'name') }))
    },

    async watch({ topic, labelId }, signal) {
      const requestBody = { topicName: topic, labelIds: [labelId], labelFilterBehavior: 'include' }
      const fields = await call({
        service,
        signal,
        request: ({ gmail }, adapter) => gmail.users.watch({ userId, requestBody }, { adapter, rootUrl }),
      })
      return { historyId: digits(fields, 'historyId'), endsAt: Number(digits(fields, 'expiration')) }
    },

    async stop(signal) {
      await call({
        service,
        signal,
        isSilent: true,
        request: ({ gmail }, adapter) => gmail.users.stop({ userId }, { adapter, rootUrl }),
      })
    },

    async history({ since, labelId, pageToken }, signal) {
      const fields = await call({
        service,
        signal,
        absent: 404,
        request: ({ gmail }, adapter) =>
          gmail.users.history.list(
            {
              userId,
              startHistoryId: since,
              labelId,
              historyTypes: ['messageAdded'],
              maxResults: pageSize,
              pageToken,
            },
            { adapter, rootUrl },
          ),
      })
      if (fields !== undefined) return followed(readHistory(fields), pageToken)
      throw new PluginError(`Gmail keeps no history as old as ${since} any more.`, {
        code: 'history-expired',
        retryable: false,
      })
    },

    async message(id, options, signal) {
      const fields = options.text ? await wholeMessage(id, signal) : await rawMessage(id, signal)
      if (fields === undefined) return undefined
      if (messageId(fields) !== id) throw failure('gave another mail than the one that was asked for')
      return fields as unknown as RawMessage
    },

    async list({ labelId, after, max, pageToken }, signal) {
      // Whole seconds, and nobody says whether that second counts: the one before does no harm.
      const second = Math.max(0, Math.floor(after / 1000) - 1)
      const fields = await call({
        service,
        signal,
        request: ({ gmail }, adapter) =>
          gmail.users.messages.list(
            {
              userId,
              labelIds: [labelId],
              q: `after:${second}`,
              // As in the history, where spam and trash are told of; what is left out is decided once, and not here.
              includeSpamTrash: true,
              maxResults: Math.min(Math.max(1, max), pageSize),
              pageToken,
            },
            { adapter, rootUrl },
          ),
      })
      return followed(readList(fields), pageToken)
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

/** A page that is followed by itself would be asked for without end. */
function followed<Page extends { readonly nextPageToken?: string }>(
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
