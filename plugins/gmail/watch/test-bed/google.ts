/** Owns a mailbox, a topic and a subscription in memory, as the ports show Google's. */

import type { SourceClock } from '@reveille/kit'
import type { Google } from '../../google/index.ts'
import type { Label, Notification, PubSub, RawMessage } from '../../google/port.ts'
import { type Fates, failure, type Life, suffer } from './fate.ts'

export interface FakeMail {
  readonly id: string
  readonly historyId: number
  readonly at: number
  readonly raw: RawMessage
}

export interface NewMail {
  readonly labels?: readonly string[]
  readonly snippet?: string
  /** Nobody is told of it, though a watch lasts. */
  readonly isLost?: boolean
}

interface Queued {
  readonly notification: Notification
  /** By the time that passed. */
  availableAt: number
}

export interface FakeGoogle {
  readonly account: string
  readonly mails: readonly FakeMail[]
  readonly historyId: number
  /** Published and not acknowledged. */
  readonly queue: ReadonlyMap<string, Queued>
  readonly watches: readonly { readonly topic: string; readonly labelId: string }[]
  /** Operations, in order. */
  readonly calls: readonly string[]
  labels: readonly Label[]
  pageLength: number
  watchLastsMs: number
  deliver(mail?: NewMail): FakeMail
  remove(id: string): void
  publish(about: Notification['about']): void
  expireHistory(): void
  /** Called with what is acknowledged, before it is. */
  onAcknowledged: (notification: Notification) => void
  /** In mode `push`, in place of a queue to be pulled. */
  onPublished: ((notification: Notification) => void) | undefined
  /** As one life of the source sees it. */
  open(fates: Fates, life: Life): Google
}

const ackDeadlineMs = 60_000
const longestPullMs = 90_000

export function createFakeGoogle(clock: SourceClock & { readonly passed: number }): FakeGoogle {
  const account = 'ada@example.com'
  const mails: FakeMail[] = []
  const gone = new Set<string>()
  const queue = new Map<string, Queued>()
  const watches: { topic: string; labelId: string }[] = []
  const calls: string[] = []
  const pullers = new Set<() => void>()
  let historyId = 1000
  let expiredBefore = 0
  let watchEnds = 0
  let lastMessage = 0
  let lastAck = 0

  function publish(about: Notification['about']): void {
    lastMessage += 1
    const notification = { messageId: `m${lastMessage}`, ...(about && { about }) }
    if (fake.onPublished) return fake.onPublished(notification)
    queue.set(notification.messageId, { notification, availableAt: clock.passed })
    for (const wake of pullers) wake()
  }

  /** Whatever has the label now, as Google looks it up. */
  function labelled(labelId: string): FakeMail[] {
    return mails.filter(({ id, raw }) => !gone.has(id) && raw.labelIds?.includes(labelId))
  }

  function take(max: number): Notification[] {
    const taken: Notification[] = []
    for (const [messageId, queued] of queue) {
      if (taken.length >= max || queued.availableAt > clock.passed) continue
      queued.availableAt = clock.passed + ackDeadlineMs
      lastAck += 1
      taken.push({ ...queued.notification, ackId: `${messageId}:${lastAck}` })
    }
    return taken
  }

  function ofAck(ackId: string): string {
    return ackId.split(':')[0] ?? ''
  }

  async function pull(max: number, signal: AbortSignal): Promise<readonly Notification[]> {
    const end = clock.passed + longestPullMs
    for (;;) {
      const taken = take(max)
      if (taken.length > 0 || clock.passed >= end) return taken
      const waking = new AbortController()
      const wake = () => waking.abort()
      pullers.add(wake)
      const again = Math.min(end, ...[...queue.values()].map(({ availableAt }) => availableAt))
      await clock.sleep(again - clock.passed, AbortSignal.any([waking.signal, signal])).catch(() => undefined)
      pullers.delete(wake)
      signal.throwIfAborted()
    }
  }

  const fake: FakeGoogle = {
    account,
    mails,
    queue,
    watches,
    calls,
    labels: [
      { id: 'INBOX', name: 'INBOX' },
      { id: 'Label_7', name: 'Invoices' },
    ],
    pageLength: 500,
    watchLastsMs: 7 * 24 * 3_600_000,
    onAcknowledged: () => {},
    onPublished: undefined,
    get historyId() {
      return historyId
    },
    deliver({ labels = ['INBOX', 'UNREAD'], snippet = '', isLost = false } = {}) {
      historyId += 1 + (historyId % 3)
      const id = `mail-${historyId}`
      const raw = { id, threadId: id, labelIds: labels, snippet, internalDate: String(clock.now()) }
      const mail = { id, historyId, at: clock.now(), raw }
      mails.push(mail)
      const isWatched = clock.passed < watchEnds && labels.includes(watches.at(-1)?.labelId ?? '')
      if (isWatched && !isLost) publish({ emailAddress: account, historyId: String(historyId) })
      return mail
    },
    remove(id) {
      gone.add(id)
      historyId += 1
    },
    publish,
    expireHistory() {
      expiredBefore = historyId
    },
    open(fates, life) {
      function on<Result>(operation: string, signal: AbortSignal, effect: () => Result | Promise<Result>) {
        calls.push(operation)
        return suffer(fates, life, clock, operation, signal, effect)
      }
      return {
        gmail: {
          profile: (signal) =>
            on('profile', signal, () => ({ emailAddress: account, historyId: String(historyId) })),
          labels: (signal) => on('labels', signal, () => fake.labels),
          watch: (request, signal) =>
            on('watch', signal, () => {
              watches.push(request)
              watchEnds = clock.passed + fake.watchLastsMs
              return { historyId: String(historyId), endsAt: clock.now() + fake.watchLastsMs }
            }),
          history: ({ since, labelId, pageToken }, signal) =>
            on('history', signal, () => {
              if (Number(since) < expiredBefore) throw failure('history-expired', { retryable: false })
              // A listing is of the mailbox as it was at its first page.
              const [from = 0, until = historyId] = (pageToken?.split('-') ?? []).map(Number)
              const all = labelled(labelId).filter((mail) => mail.historyId > Number(since))
              const records = all.filter((mail) => mail.historyId <= until)
              const page = records.slice(from, from + fake.pageLength)
              const last = page.at(-1)
              const end = from + page.length
              return {
                messageIds: page.map(({ id }) => id),
                historyId: String(historyId),
                ...(last && { lastId: String(last.historyId) }),
                ...(end < records.length && { nextPageToken: `${end}-${until}` }),
              }
            }),
          message: (id, _options, signal) =>
            on('message', signal, () => (gone.has(id) ? undefined : mails.find((mail) => mail.id === id)?.raw)),
          list: ({ labelId, after, max, pageToken }, signal) =>
            on('list', signal, () => {
              const newest = labelled(labelId)
                .filter(({ at }) => at >= after)
                .reverse()
              const from = Number(pageToken ?? 0)
              const end = from + max
              return {
                messageIds: newest.slice(from, end).map(({ id }) => id),
                ...(end < newest.length && { nextPageToken: String(end) }),
              }
            }),
        },
        pubsub: {
          pull: (_subscription, max, signal) => on('pull', signal, () => pull(max, signal)),
          acknowledge: (_subscription, ackIds, signal) =>
            on('acknowledge', signal, () => {
              for (const ackId of ackIds) {
                const queued = queue.get(ofAck(ackId))
                if (!queued) continue
                fake.onAcknowledged(queued.notification)
                queue.delete(ofAck(ackId))
              }
            }),
          extend: (_subscription, ackIds, seconds, signal) =>
            on('extend', signal, () => {
              for (const ackId of ackIds) {
                const queued = queue.get(ofAck(ackId))
                if (queued) queued.availableAt = clock.passed + seconds * 1000
              }
            }),
        } as PubSub,
      }
    },
  }
  return fake
}
