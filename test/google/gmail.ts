/** Implements Gmail's operations. https://developers.google.com/workspace/gmail/api/reference/rest */

import type { gmail_v1 } from '@googleapis/gmail'
import type { HistoryRecord, Mail, Mailbox } from './mailbox.ts'
import { badArgument, refusal } from './refusal.ts'
import type { Handler, Values } from './requests.ts'

export function createGmail(mailbox: Mailbox): Readonly<Record<string, Handler>> {
  return {
    'gmail.users.getProfile': ({ account }): gmail_v1.Schema$Profile => ({
      emailAddress: account,
      messagesTotal: mailbox.mails().length,
      threadsTotal: mailbox.mails().length,
      historyId: String(mailbox.historyId()),
    }),
    'gmail.users.labels.list': (): gmail_v1.Schema$ListLabelsResponse => ({ labels: mailbox.labels }),
    'gmail.users.history.list': ({ query }) => listHistory(mailbox, query),
    'gmail.users.messages.list': ({ query }) => listMessages(mailbox, query),
    'gmail.users.messages.get': ({ path: [, id = ''], query }) => {
      const mail = mailbox.mail(id)
      if (mail === undefined) throw refusal({ code: 404 })
      return show(mail, query)
    },
  }
}

function checkLabels(mailbox: Mailbox, labelIds: readonly string[]): void {
  const unknown = labelIds.find((id) => !mailbox.labels.some((label) => label.id === id))
  if (unknown !== undefined) throw badArgument(`Invalid label: ${unknown}`)
}

function listHistory(mailbox: Mailbox, query: Values): gmail_v1.Schema$ListHistoryResponse {
  const { startHistoryId, labelId, historyTypes = [] } = query as gmail_v1.Params$Resource$Users$History$List
  const max = pageSize(query)
  if (!/^\d{1,20}$/.test(String(startHistoryId))) throw badArgument('Invalid startHistoryId')
  const start = Number(startHistoryId)
  // "Supplying an invalid or out of date startHistoryId typically returns an HTTP 404 error code."
  if (start < mailbox.historyStart() || start > mailbox.historyId()) throw refusal({ code: 404 })
  const after = Math.max(start, afterPage(query, String(start)))
  const rest = mailbox.history.filter(({ id }) => id > after)
  const page = rest.slice(0, max)
  // A page may have fewer records than fit, or none, and still not be the last one: https://google.aip.dev/158
  const wanted = page.filter(
    ({ type, mail }) =>
      (historyTypes.length === 0 || historyTypes.includes(type)) &&
      (labelId === undefined || mail.labelIds.includes(labelId)),
  )
  return {
    ...(wanted.length > 0 && { history: wanted.map(showRecord) }),
    historyId: String(mailbox.historyId()),
    ...(rest.length > page.length && { nextPageToken: pageToken(String(start), page.at(-1)?.id ?? 0) }),
  }
}

function showRecord({ id, type, mail }: HistoryRecord): gmail_v1.Schema$History {
  const messages = [{ id: mail.id, threadId: mail.id }]
  const changes = [{ message: { ...messages[0], labelIds: [...mail.labelIds] } }]
  return {
    id: String(id),
    messages,
    ...(type === 'messageAdded' ? { messagesAdded: changes } : { messagesDeleted: changes }),
  }
}

function listMessages(mailbox: Mailbox, query: Values): gmail_v1.Schema$ListMessagesResponse {
  const { labelIds = [], q = '', includeSpamTrash } = query as gmail_v1.Params$Resource$Users$Messages$List
  const max = pageSize(query)
  checkLabels(mailbox, labelIds)
  // In seconds since the Unix epoch: https://developers.google.com/workspace/gmail/api/guides/filtering
  const [, after] = /^(?:after:(\d{9,11}))?$/.exec(q) ?? []
  if (q !== '' && after === undefined) {
    throw refusal({ code: 501, message: `The fake Google cannot search for ${q}`, isWrong: true })
  }
  const isJunk = (mail: Mail) => mail.labelIds.some((id) => id === 'SPAM' || id === 'TRASH')
  const found = mailbox
    .mails()
    .filter(
      (mail) =>
        labelIds.every((id) => mail.labelIds.includes(id)) &&
        (includeSpamTrash === true || !isJunk(mail)) &&
        Math.floor(mail.at / 1000) >= Number(after ?? 0),
    )
  const key = JSON.stringify([labelIds, q])
  const skip = afterPage(query, key)
  const page = found.slice(skip, skip + max)
  const end = skip + page.length
  return {
    ...(page.length > 0 && { messages: page.map(({ id }) => ({ id, threadId: id })) }),
    ...(end < found.length && { nextPageToken: pageToken(key, end) }),
    resultSizeEstimate: found.length,
  }
}

function show(mail: Mail, query: Values): gmail_v1.Schema$Message {
  const { format = 'full', metadataHeaders = [] } = query as gmail_v1.Params$Resource$Users$Messages$Get
  const { id, snippet, payload, labelIds } = mail
  const message = {
    id,
    threadId: id,
    ...(labelIds.length > 0 && { labelIds: [...labelIds] }),
    snippet,
    sizeEstimate: JSON.stringify(payload).length,
    historyId: String(mail.historyId),
    internalDate: String(mail.at),
  }
  if (format === 'full') return { ...message, payload }
  if (format !== 'metadata') throw refusal({ code: 501, message: `Format ${format}`, isWrong: true })
  const names = metadataHeaders.map((name) => name.toLowerCase())
  const { partId, mimeType, filename, headers = [] } = payload
  const shown = headers.filter(({ name }) => names.length === 0 || names.includes(String(name).toLowerCase()))
  return { ...message, payload: { partId, mimeType, filename, headers: shown } }
}

/** "This field defaults to 100. The maximum allowed value for this field is 500." */
function pageSize({ maxResults = 100 }: Values): number {
  const size = Number(maxResults)
  if (size >= 1 && size <= 500) return size
  throw badArgument(`Invalid maxResults: ${size}. It must be between 1 and 500.`)
}

/** A page token is valid for the list that it came from. */
function pageToken(key: string, at: number): string {
  return `${at}.${Buffer.from(key).toString('base64url')}`
}

function afterPage({ pageToken: token }: Values, key: string): number {
  if (token === undefined) return 0
  const at = Number.parseInt(String(token), 10)
  if (token !== pageToken(key, at)) throw badArgument('Invalid pageToken')
  return at
}
