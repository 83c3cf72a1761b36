/** Implements Gmail's operations. https://developers.google.com/workspace/gmail/api/reference/rest */

import type { GoogleClock } from '../clock.ts'
import type { Handlers, Request } from '../handler.ts'
import { badArgument, type Refusal, refusal } from '../refusal.ts'
import type { ChangeType, HistoryRecord, Mail, Mailbox } from './mailbox.ts'
import { base64url, type Part, rawOf } from './payload.ts'
import { compileSearch } from './search.ts'

export interface Watch {
  readonly topic: string
  readonly labelIds: readonly string[]
  readonly isExclusion: boolean
  readonly endsAt: number
}

export interface GmailOptions {
  readonly clock: GoogleClock
  readonly project: string
  /** Returns the mailbox of an account, and makes it if there is none. */
  mailboxOf(account: string): Mailbox
  /** The watches by account. */
  readonly watches: Map<string, Watch>
  /** Returns why Gmail may not publish to the topic, in Pub/Sub's words, or undefined if it may. */
  whyNotPublish(topic: string): 'NOT_FOUND' | 'PERMISSION_DENIED' | undefined
  /** Publishes the end of the history to the account's topic. */
  notify(account: string): void
}

/** https://developers.google.com/workspace/gmail/api/guides/push#renew_mailbox_watch */
const watchDays = 7
const listed: Readonly<Record<ChangeType, string>> = {
  messageAdded: 'messagesAdded',
  messageDeleted: 'messagesDeleted',
  labelAdded: 'labelsAdded',
  labelRemoved: 'labelsRemoved',
}
const metadataScope = 'https://www.googleapis.com/auth/gmail.metadata'

export function createGmail(options: GmailOptions): Handlers {
  const { clock, project, mailboxOf, watches, whyNotPublish, notify } = options

  /** Returns the mailbox. @throws Refusal for another account's mailbox */
  function own({ path, caller }: Request): Mailbox {
    const { userId = '' } = path
    if (userId !== 'me' && userId.toLowerCase() !== caller.account.toLowerCase()) {
      throw refusal('gmail', { code: 403, message: `Delegation denied for ${caller.account}`, isWrong: true })
    }
    return mailboxOf(caller.account)
  }

  return {
    'gmail.users.getProfile': (request) => {
      const { account, mails, historyId } = own(request)
      const threads = new Set(mails.map(({ threadId }) => threadId))
      return {
        emailAddress: account,
        messagesTotal: mails.length,
        threadsTotal: threads.size,
        historyId: String(historyId),
      }
    },

    'gmail.users.labels.list': (request) => ({ labels: own(request).labels }),

    'gmail.users.labels.get': (request) => {
      const { labels, mails } = own(request)
      const label = labels.find(({ id }) => id === request.path['id'])
      if (label === undefined) throw notFound()
      const having = mails.filter(({ labelIds }) => labelIds.includes(label.id))
      const unread = having.filter(({ labelIds }) => labelIds.includes('UNREAD'))
      const [all, some] = [having.length, unread.length]
      return { ...label, messagesTotal: all, messagesUnread: some, threadsTotal: all, threadsUnread: some }
    },

    'gmail.users.watch': (request) => {
      const mailbox = own(request)
      const { account } = mailbox
      const { topicName: topic = '', labelIds = [] } = request.body
      if (!new RegExp(`^projects/${project}/topics/[^/]+$`).test(topic)) {
        throw badArgument('gmail', `Invalid topicName does not match projects/${project}/topics/*`)
      }
      const behaviour = request.body.labelFilterBehavior ?? request.body.labelFilterAction ?? 'include'
      for (const id of labelIds) {
        if (!mailbox.labels.some((label) => label.id === id))
          throw badArgument('gmail', `Invalid label: ${id}`)
      }
      const before = watches.get(account)
      if (before !== undefined && before.endsAt > clock.now() && before.topic !== topic) {
        const message =
          'Only one user push notification client allowed per developer (call /stop then try again)'
        throw refusal('gmail', { code: 400, message })
      }
      const why = whyNotPublish(topic)
      if (why !== undefined) throw testMessageFailed(topic, why)
      const endsAt = clock.now() + watchDays * 86_400_000
      watches.set(account, { topic, labelIds, isExclusion: behaviour === 'exclude', endsAt })
      notify(account)
      return { historyId: String(mailbox.historyId), expiration: String(endsAt) }
    },

    'gmail.users.stop': (request) => {
      watches.delete(own(request).account)
      return undefined
    },

    'gmail.users.history.list': (request) => listHistory(own(request), request),
    'gmail.users.messages.list': (request) => listMessages(own(request), request),
    'gmail.users.messages.get': (request) => {
      const mail = own(request).mail(request.path['id'] ?? '')
      const format = String(request.query['format'] ?? 'full')
      if (seesOnlyMetadata(request) && (format === 'full' || format === 'raw')) {
        const message = `Metadata scope doesn't allow format ${format.toUpperCase()}`
        throw refusal('gmail', { code: 403, message, reason: 'forbidden', isWrong: true })
      }
      if (mail === undefined) throw notFound()
      return show(mail, format, (request.query['metadataHeaders'] as string[] | undefined) ?? [])
    },
  }
}

/** Returns whether the watch covers the change. */
export function isWatched(watch: Watch, { touches }: HistoryRecord): boolean {
  if (watch.labelIds.length === 0) return true
  return watch.labelIds.some((id) => touches.includes(id)) !== watch.isExclusion
}

function listHistory(mailbox: Mailbox, { query }: Request): object {
  const start = String(query['startHistoryId'])
  if (!/^\d{1,20}$/.test(start))
    throw badArgument('gmail', `Invalid value at 'start_history_id' (TYPE_UINT64), "${start}"`)
  const max = pageSize(query)
  const from = Number(start)
  // "Supplying an invalid or out of date startHistoryId typically returns an HTTP 404 error code."
  if (from < mailbox.historyStart || from > mailbox.historyId) throw notFound()
  const types = (query['historyTypes'] as ChangeType[] | undefined) ?? []
  const labelId = query['labelId'] as string | undefined
  const after = Math.max(from, afterPage(query, start))
  const rest = mailbox.history.filter(({ id }) => id > after)
  const page = rest.slice(0, max)
  // A page may have fewer records than fit, or none, and still not be the last one: https://google.aip.dev/158
  const wanted = page.filter(
    (record) =>
      (types.length === 0 || types.includes(record.type)) &&
      (labelId === undefined || record.touches.includes(labelId)),
  )
  const last = page.at(-1)
  return {
    ...(wanted.length > 0 ? { history: wanted.map(showRecord) } : {}),
    historyId: String(mailbox.historyId),
    ...(last !== undefined && rest.length > page.length ? { nextPageToken: pageToken(start, last.id) } : {}),
  }
}

function showRecord({ id, type, mailId, threadId, labelIds, changed }: HistoryRecord): object {
  const message = { id: mailId, threadId, ...unlessEmpty({ labelIds }) }
  const isOfLabels = type === 'labelAdded' || type === 'labelRemoved'
  return {
    id: String(id),
    messages: [{ id: mailId, threadId }],
    [listed[type]]: [isOfLabels ? { message, labelIds: changed } : { message }],
  }
}

function listMessages(mailbox: Mailbox, request: Request): object {
  const { query } = request
  const max = pageSize(query)
  const labelIds = (query['labelIds'] as string[] | undefined) ?? []
  for (const id of labelIds) {
    if (!mailbox.labels.some((label) => label.id === id)) throw badArgument('gmail', `Invalid label: ${id}`)
  }
  const q = query['q'] as string | undefined
  if (q !== undefined && seesOnlyMetadata(request)) {
    const message = "Metadata scope does not support 'q' parameter"
    throw refusal('gmail', { code: 403, message, isWrong: true })
  }
  const matches = compileSearch(q ?? '')
  if (matches === undefined) {
    throw refusal('gmail', { code: 501, message: `The fake Google cannot search for ${q}`, isWrong: true })
  }
  const showsAll =
    query['includeSpamTrash'] === true || labelIds.some((id) => id === 'SPAM' || id === 'TRASH')
  const found = mailbox.mails.filter(
    (mail) =>
      labelIds.every((id) => mail.labelIds.includes(id)) &&
      (showsAll || !mail.labelIds.some((id) => id === 'SPAM' || id === 'TRASH')) &&
      matches(mail),
  )
  const key = JSON.stringify([labelIds, q])
  const skip = afterPage(query, key)
  const page = found.slice(skip, skip + max)
  const isLast = skip + page.length >= found.length
  return {
    ...(page.length > 0 ? { messages: page.map(({ id, threadId }) => ({ id, threadId })) } : {}),
    ...(isLast ? {} : { nextPageToken: pageToken(key, skip + page.length) }),
    resultSizeEstimate: found.length,
  }
}

function show(mail: Mail, format: string, metadataHeaders: readonly string[]): object {
  const { id, threadId, labelIds, snippet, payload } = mail
  const common = {
    id,
    threadId,
    ...unlessEmpty({ labelIds }),
    snippet,
    sizeEstimate: mail.size,
    historyId: String(mail.historyId),
    internalDate: String(mail.at),
  }
  switch (format) {
    case 'minimal':
      return common
    case 'raw':
      return { ...common, raw: base64url(Buffer.from(rawOf(payload, id))) }
    case 'metadata':
      return { ...common, payload: headOf(payload, metadataHeaders) }
    default:
      return { ...common, payload }
  }
}

function headOf({ partId, mimeType, filename, headers = [] }: Part, wanted: readonly string[]): object {
  const names = wanted.map((name) => name.toLowerCase())
  const isWanted = (header: { readonly name?: string } | undefined) =>
    names.includes(String(header?.name).toLowerCase())
  // A payload that a test gave may have anything in place of headers.
  const shown = names.length > 0 && Array.isArray(headers) ? headers.filter(isWanted) : headers
  return { partId, mimeType, filename, headers: shown }
}

/** Google leaves empty lists out. */
function unlessEmpty<Lists extends Readonly<Record<string, readonly unknown[]>>>(
  lists: Lists,
): Partial<Lists> {
  return Object.values(lists).every(({ length }) => length === 0) ? {} : lists
}

/** "This field defaults to 100. The maximum allowed value for this field is 500." */
function pageSize(query: Request['query']): number {
  const { maxResults = 100 } = query
  const size = Number(maxResults)
  if (size < 1 || size > 500) {
    throw badArgument('gmail', `Invalid maxResults: ${size}. It must be between 1 and 500.`)
  }
  return size
}

/** A page token is valid for the list that it came from. */
function pageToken(key: string, at: number): string {
  return Buffer.from(JSON.stringify([key, at])).toString('base64url')
}

function afterPage(query: Request['query'], key: string): number {
  const { pageToken: token } = query
  if (token === undefined) return 0
  try {
    const [of, at] = JSON.parse(Buffer.from(String(token), 'base64url').toString())
    if (of === key && typeof at === 'number') return at
  } catch {}
  throw badArgument('gmail', 'Invalid pageToken')
}

/** One of the scopes shows headers only, and it decides only if the token has no other. */
function seesOnlyMetadata({ caller }: Request): boolean {
  const ofMail = caller.scopes.filter((scope) => /\/auth\/gmail\.|mail\.google\.com/.test(scope))
  return ofMail.length > 0 && ofMail.every((scope) => scope === metadataScope)
}

function notFound(): Refusal {
  return refusal('gmail', { code: 404, message: 'Requested entity was not found.' })
}

/** People have reported these words: https://github.com/googleapis/google-api-nodejs-client/issues/2843 */
function testMessageFailed(topic: string, why: 'NOT_FOUND' | 'PERMISSION_DENIED'): Refusal {
  const said =
    why === 'NOT_FOUND'
      ? `Resource not found (resource=${topic.split('/').at(-1)}).`
      : 'User not authorized to perform this action.'
  const message = `Error sending test message to Cloud PubSub ${topic} : ${said}`
  return refusal('gmail', { code: why === 'NOT_FOUND' ? 404 : 403, message })
}
