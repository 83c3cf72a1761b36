/** Keeps the mails of a mailbox and the history of its changes. */

import type { GoogleClock } from '../clock.ts'
import type { NewMail } from '../google.ts'
import { type Part, payloadOf, sizeOf, snippetOf } from './payload.ts'

export interface Mail {
  readonly id: string
  readonly threadId: string
  labelIds: readonly string[]
  /** When Gmail received the mail. */
  readonly at: number
  /** The id of the last record that changed the mail. */
  historyId: number
  readonly payload: Part
  readonly snippet: string
  readonly size: number
}

/** The types of `historyTypes`, in the order of the discovery document. */
export type ChangeType = 'messageAdded' | 'messageDeleted' | 'labelAdded' | 'labelRemoved'

export interface HistoryRecord {
  readonly id: number
  readonly type: ChangeType
  readonly mailId: string
  readonly threadId: string
  /** The labels that the mail had then, or has now. */
  readonly labelIds: readonly string[]
  /** The labels before and after the change, for filters. */
  readonly touches: readonly string[]
  /** The labels that were added or removed. */
  readonly changed: readonly string[]
}

export interface Label {
  readonly id: string
  readonly name: string
  readonly type: 'system' | 'user'
}

/** https://developers.google.com/workspace/gmail/api/guides/labels#types_of_labels */
const systemLabels = [
  ...['CHAT', 'SENT', 'INBOX', 'IMPORTANT', 'TRASH', 'DRAFT', 'SPAM', 'STARRED', 'UNREAD'],
  ...['CATEGORY_FORUMS', 'CATEGORY_UPDATES', 'CATEGORY_PERSONAL', 'CATEGORY_PROMOTIONS', 'CATEGORY_SOCIAL'],
]

export interface Mailbox {
  readonly account: string
  readonly labels: readonly Label[]
  readonly historyId: number
  /** History before this id is forgotten. */
  readonly historyStart: number
  readonly history: readonly HistoryRecord[]
  /** Lists the newest first. */
  readonly mails: readonly Mail[]
  mail(id: string): Mail | undefined
  addLabel(name: string): string
  deliver(mail: NewMail): string
  remove(id: string): void
  relabel(id: string, change: { readonly add?: readonly string[]; readonly remove?: readonly string[] }): void
  expireHistory(): void
}

export interface MailboxOptions {
  readonly account: string
  readonly clock: GoogleClock
  readonly onChange: (record: HistoryRecord) => void
}

export function createMailbox({ account, clock, onChange }: MailboxOptions): Mailbox {
  const labels: Label[] = systemLabels.map((id) => ({ id, name: id, type: 'system' }))
  const mails = new Map<string, Mail>()
  const history: HistoryRecord[] = []
  let historyId = 1_204_551
  let historyStart = historyId
  let count = 0

  function record(
    mail: Mail,
    type: ChangeType,
    changed: readonly string[],
    before: readonly string[] = [],
  ): void {
    // Ids grow by gaps that cannot be predicted.
    historyId += 3 + ((historyId * 7) % 11)
    mail.historyId = historyId
    const touches = [...new Set([...before, ...mail.labelIds])]
    const { id: mailId, threadId, labelIds } = mail
    const made = { id: historyId, type, mailId, threadId, labelIds, touches, changed }
    history.push(made)
    onChange(made)
  }

  function known(id: string): Mail {
    const mail = mails.get(id)
    if (mail === undefined) throw new Error(`The mailbox has no mail ${id}.`)
    return mail
  }

  function checkLabels(ids: readonly string[]): void {
    for (const id of ids) {
      if (!labels.some((label) => label.id === id)) throw new Error(`The mailbox has no label ${id}.`)
    }
  }

  return {
    account,
    labels,
    history,
    get historyId() {
      return historyId
    },
    get historyStart() {
      return historyStart
    },
    get mails() {
      return [...mails.values()].reverse()
    },
    mail: (id) => mails.get(id),

    addLabel(name) {
      const id = `Label_${labels.length + 1}`
      labels.push({ id, name, type: 'user' })
      return id
    },

    deliver(mail) {
      count += 1
      const at = clock.now()
      const id = (0x18c0a1b200000000n + BigInt(count) * 0x10001n).toString(16)
      const labelIds = [...(mail.labels ?? ['INBOX', 'UNREAD'])]
      checkLabels(labelIds)
      const payload = payloadOf(mail, id, account, at)
      const stored = {
        id,
        threadId: id,
        labelIds,
        at,
        historyId,
        payload,
        snippet: snippetOf(payload),
        size: sizeOf(payload),
      }
      mails.set(id, stored)
      record(stored, 'messageAdded', labelIds)
      return id
    },

    remove(id) {
      const mail = known(id)
      mails.delete(id)
      record(mail, 'messageDeleted', [])
    },

    relabel(id, { add = [], remove = [] }) {
      const mail = known(id)
      checkLabels([...add, ...remove])
      const added = add.filter((label) => !mail.labelIds.includes(label))
      const removed = remove.filter((label) => mail.labelIds.includes(label))
      if (added.length > 0) {
        const before = mail.labelIds
        mail.labelIds = [...before, ...added]
        record(mail, 'labelAdded', added, before)
      }
      if (removed.length > 0) {
        const before = mail.labelIds
        mail.labelIds = before.filter((label) => !removed.includes(label))
        record(mail, 'labelRemoved', removed, before)
      }
    },

    expireHistory() {
      historyStart = historyId
    },
  }
}
