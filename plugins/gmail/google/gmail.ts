/** Performs the calls of Gmail. https://developers.google.com/workspace/gmail/api/reference/rest */

import { asRecord, type Facts, joinUrl, permanentError } from '@reveille/kit'
import type { Call, Calls } from './calls.ts'
import { TooLongAnswer } from './exchange.ts'
import type { Gmail, HistoryPage, ListPage, RawMessage } from './port.ts'
import { digits, failure, messageId, optional, records, text } from './reading.ts'

/**
 * Maximum size of one mail with its text, in bytes. Attachments are not part of it, so a longer mail is a pasted log, or
 * holds pictures in its HTML. It is then asked for without its text.
 */
const maxMailBytes = 16 * 1_048_576
/** A longer mail is asked for again, one at a time: several that a sender sends at once would fill the memory. */
const usualMail = 2 * 1_048_576
/** The time for a longer mail, on a slow line. */
const secondsOfLong = 120

const headersOfMetadata = ['From', 'To', 'Subject', 'Date']

/** Gmail lists at most this many in one page. */
const pageSize = 500

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
type Options = Partial<Omit<Call, 'url'>> & Pick<Call, 'signal'> & { readonly query?: Query }

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of Gmail's calls, each of a few lines
export function createGmailPort(call: Calls, baseUrl: string): Gmail {
  /** `me` is Gmail's name for the account that consented. */
  const askFor = (path: string, { query = {}, ...rest }: Options) =>
    call({ url: joinUrl(baseUrl, `/gmail/v1/users/me/${path}${queryOf(query)}`), ...rest })

  /** Asks for what cannot be absent. */
  const ask = (path: string, options: Options) => askFor(path, options) as Promise<Facts>

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
      return await afterLastLongMail(() => fullMessage(id, signal, maxMailBytes))
    } catch (error) {
      if (!(error instanceof TooLongAnswer)) throw error
    }
    return messageHeaders(id, signal)
  }

  function fullMessage(id: string, signal: AbortSignal, maxBytes: number): Promise<Facts | undefined> {
    const seconds = maxBytes > usualMail ? secondsOfLong : undefined
    return askFor(`messages/${encodeURIComponent(id)}`, {
      query: { format: 'full' },
      signal,
      absent: 404,
      maxBytes,
      seconds,
    })
  }

  function messageHeaders(id: string, signal: AbortSignal): Promise<Facts | undefined> {
    const query = { format: 'metadata', metadataHeaders: headersOfMetadata }
    return askFor(`messages/${encodeURIComponent(id)}`, { query, signal, absent: 404 })
  }

  return {
    async profile(signal) {
      const fields = await ask('profile', { signal })
      return { emailAddress: text(fields, 'emailAddress'), historyId: digits(fields, 'historyId') }
    },

    async labels(signal) {
      const fields = await ask('labels', { signal })
      return records(fields, 'labels').map((label) => ({ id: text(label, 'id'), name: text(label, 'name') }))
    },

    async history({ since, labelId, pageToken }, signal) {
      const query = {
        startHistoryId: since,
        labelId,
        historyTypes: ['messageAdded'],
        maxResults: pageSize,
        pageToken,
      }
      const fields = await askFor('history', { query, signal, absent: 404 })
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
      const query = {
        labelIds: [labelId],
        q: `after:${second}`,
        // The history contains spam and trash too. They are left out in one place, and not here.
        includeSpamTrash: true,
        maxResults: Math.min(Math.max(1, max), pageSize),
        pageToken,
      }
      const fields = await ask('messages', { query, signal })
      return refuseSelfReference(readList(fields), pageToken)
    },
  }
}

function queryOf(query: Query): string {
  const values = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)]),
  )
  return values.length === 0 ? '' : `?${new URLSearchParams(values)}`
}

function readHistory(fields: Facts): HistoryPage {
  const history = records(fields, 'history')
  const messageIds = history.flatMap((record) =>
    records(record, 'messagesAdded').map((added) => messageId(asRecord(added['message']))),
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
