/** Keeps the mails of a mailbox and the history of its changes. */

import type { gmail_v1 } from '@googleapis/gmail'

export interface NewMail {
  readonly from?: string
  readonly subject?: string
  readonly text?: string
  /** Default: INBOX and UNREAD. */
  readonly labels?: readonly string[]
}

export interface Mail {
  readonly id: string
  readonly labelIds: readonly string[]
  /** When Gmail received the mail. */
  readonly at: number
  readonly historyId: number
  readonly snippet: string
  readonly payload: gmail_v1.Schema$MessagePart
}

export interface HistoryRecord {
  readonly id: number
  readonly type: 'messageAdded' | 'messageDeleted'
  readonly mail: Mail
}

/** https://developers.google.com/workspace/gmail/api/guides/labels#types_of_labels */
const systemLabels = [
  ...['CHAT', 'SENT', 'INBOX', 'IMPORTANT', 'TRASH', 'DRAFT', 'SPAM', 'STARRED', 'UNREAD'],
  ...['CATEGORY_FORUMS', 'CATEGORY_UPDATES', 'CATEGORY_PERSONAL', 'CATEGORY_PROMOTIONS', 'CATEGORY_SOCIAL'],
]

export type Mailbox = ReturnType<typeof createMailbox>

export function createMailbox(account: string, now: () => number) {
  const labels = systemLabels.map((id) => ({ id, name: id, type: 'system' }))
  const mails = new Map<string, Mail>()
  const history: HistoryRecord[] = []
  let historyId = 1_204_551
  let historyStart = historyId
  let count = 0

  function record(type: HistoryRecord['type'], mail: Mail): void {
    history.push({ id: historyId, type, mail })
  }

  /** Ids grow by gaps that cannot be predicted. */
  function nextHistoryId(): number {
    historyId += 3 + ((historyId * 7) % 11)
    return historyId
  }

  return {
    account,
    labels,
    history,
    historyId: () => historyId,
    /** History before this id is forgotten. */
    historyStart: () => historyStart,
    /** Lists the newest first. */
    mails: () => [...mails.values()].reverse(),
    mail: (id: string) => mails.get(id),

    addLabel(name: string): string {
      const id = `Label_${labels.length + 1}`
      labels.push({ id, name, type: 'user' })
      return id
    },

    deliver(sent: NewMail): string {
      count += 1
      const { labels: labelIds = ['INBOX', 'UNREAD'] } = sent
      const unknown = labelIds.find((id) => !labels.some((label) => label.id === id))
      if (unknown !== undefined) throw new Error(`The mailbox has no label ${unknown}.`)
      const id = (0x18c0a1b200000000n + BigInt(count) * 0x10001n).toString(16)
      const at = now()
      const snippet = snippetOf(sent)
      const mail = {
        id,
        labelIds,
        at,
        historyId: nextHistoryId(),
        snippet,
        payload: payloadOf(sent, account, at),
      }
      mails.set(id, mail)
      record('messageAdded', mail)
      return id
    },

    remove(id: string): void {
      const mail = mails.get(id)
      if (mail === undefined) throw new Error(`The mailbox has no mail ${id}.`)
      mails.delete(id)
      nextHistoryId()
      record('messageDeleted', mail)
    },

    expireHistory(): void {
      historyStart = historyId
    },
  }
}

/** Builds the part that `users.messages.get` answers with format `full`. */
function payloadOf(mail: NewMail, account: string, at: number): gmail_v1.Schema$MessagePart {
  const { from = 'Grace <grace@example.com>', subject = 'Hello', text = 'Are you free at noon?' } = mail
  const bytes = Buffer.from(text)
  // Google writes padding, and readers have to accept both.
  const data = bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  return {
    partId: '',
    mimeType: 'text/plain',
    filename: '',
    headers: [
      { name: 'Delivered-To', value: account },
      { name: 'Date', value: new Date(at).toUTCString().replace('GMT', '+0000') },
      { name: 'Subject', value: subject },
      { name: 'From', value: from },
      { name: 'To', value: account },
      { name: 'Content-Type', value: 'text/plain; charset="UTF-8"' },
    ],
    body: bytes.length === 0 ? { size: 0 } : { size: bytes.length, data },
  }
}

/** Returns the first words of the text, with the entities that Gmail's snippets have. */
function snippetOf({ text = '' }: NewMail): string {
  const words = text.replace(/\s+/g, ' ').trim().slice(0, 200)
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return words.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign).replaceAll("'", '&#39;')
}
