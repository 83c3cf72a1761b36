/** Provides a mailbox in memory, behind the same port as Google's. */

import type { SourceClock } from '@reveille/kit'
import type { Gmail, Label, RawMessage } from '../../google/port.ts'
import { type FaultSource, failure, type Lifetime, withFault } from './fault.ts'

export interface FakeMail {
  readonly id: string
  readonly historyId: number
  readonly at: number
  readonly raw: RawMessage
}

export interface NewMail {
  readonly labels?: readonly string[]
  readonly text?: string
}

export type FakeGoogle = ReturnType<typeof createFakeGoogle>

export function createFakeGoogle(clock: SourceClock) {
  const account = 'ada@example.com'
  const mails: FakeMail[] = []
  const gone = new Set<string>()
  const late = new Set<string>()
  const calls: string[] = []
  let historyId = 1000
  let expiredBefore = 0

  const fake = {
    account,
    mails: mails as readonly FakeMail[],
    /** The operations, in order. */
    calls: calls as readonly string[],
    countOf: (operation: string): number => calls.filter((call) => call === operation).length,
    /** The next call for each of these mails is answered as if it did not exist. */
    late,
    labels: [
      { id: 'INBOX', name: 'INBOX' },
      { id: 'Label_7', name: 'Invoices' },
    ] as readonly Label[],
    pageLength: 500,
    get historyId(): number {
      return historyId
    },
    deliver({ labels = ['INBOX', 'UNREAD'], text = '' }: NewMail = {}): FakeMail {
      historyId += 1 + (historyId % 3)
      const id = `mail-${historyId}`
      const internalDate = String(clock.now())
      const raw = { id, threadId: id, labelIds: labels, internalDate, payload: payloadOf(text) }
      const mail = { id, historyId, at: clock.now(), raw }
      mails.push(mail)
      return mail
    },
    remove(id: string): void {
      gone.add(id)
      historyId += 1
    },
    /** Changes the mailbox without a new mail, as when a mail is read. */
    change(): void {
      historyId += 1
    },
    expireHistory(): void {
      expiredBefore = historyId
    },
    /** Opens this Google for one lifetime of the source. */
    open(faults: FaultSource, life: Lifetime): Gmail {
      function on<Result>(operation: string, signal: AbortSignal, effect: () => Result | Promise<Result>) {
        calls.push(operation)
        return withFault(faults, life, clock, operation, signal, effect)
      }
      return {
        profile: (signal) =>
          on('profile', signal, () => ({ emailAddress: account, historyId: String(historyId) })),
        labels: (signal) => on('labels', signal, () => fake.labels),
        history: ({ since, labelId, pageToken }, signal) =>
          on('history', signal, () => {
            if (Number(since) < expiredBefore) throw failure('history-expired', { retryable: false })
            // A listing shows the mailbox as it was at the first page.
            const [after = Number(since), until = historyId] = (pageToken?.split('-') ?? []).map(Number)
            const records = mails.filter((mail) => mail.historyId > after && mail.historyId <= until)
            const labelled = records.filter(({ raw }) => raw.labelIds?.includes(labelId))
            const page = labelled.slice(0, fake.pageLength)
            const last = page.at(-1)
            return {
              messageIds: page.map(({ id }) => id),
              historyId: String(historyId),
              ...(last && { lastId: String(last.historyId) }),
              ...(last && page.length < labelled.length && { nextPageToken: `${last.historyId}-${until}` }),
            }
          }),
        message: (id, _options, signal) =>
          on('message', signal, () =>
            gone.has(id) || late.delete(id) ? undefined : mails.find((mail) => mail.id === id)?.raw,
          ),
        list: ({ labelId, after, max, pageToken }, signal) =>
          on('list', signal, () => {
            const before = Number(pageToken ?? Number.POSITIVE_INFINITY)
            const newest = mails
              .filter(({ id, raw }) => !gone.has(id) && raw.labelIds?.includes(labelId))
              .filter(({ at, historyId }) => at >= after && historyId < before)
              .reverse()
            const page = newest.slice(0, max)
            return {
              messageIds: page.map(({ id }) => id),
              ...(page.length < newest.length && { nextPageToken: String(page.at(-1)?.historyId) }),
            }
          }),
      }
    },
  }
  return fake
}

function payloadOf(text: string): RawMessage['payload'] {
  const data = Buffer.from(text).toString('base64url')
  return { mimeType: 'text/plain', headers: [], body: { data, size: text.length } }
}
