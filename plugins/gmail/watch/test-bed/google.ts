/** Provides a mailbox, a topic and a subscription in memory, behind the same port as Google's. */

import type { SourceClock } from '@reveille/kit'
import type { Google, Label, Notification, PubSub, RawMessage } from '../../google/port.ts'
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
  /** No notification is published, though the mailbox is watched. */
  readonly isLost?: boolean
}

interface Queued {
  readonly notification: Notification
  /** In milliseconds that have passed. */
  availableAt: number
}

export type FakeGoogle = ReturnType<typeof createFakeGoogle>

const ackDeadlineMs = 60_000
const maxPullMs = 90_000

export function createFakeGoogle(clock: SourceClock & { readonly passed: number }) {
  const account = 'ada@example.com'
  const mails: FakeMail[] = []
  const gone = new Set<string>()
  const late = new Set<string>()
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
    if (fake.onPublished) {
      fake.onPublished(notification)
      return
    }
    queue.set(notification.messageId, { notification, availableAt: clock.passed })
    for (const wake of pullers) wake()
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
    const end = clock.passed + maxPullMs
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

  const fake = {
    account,
    mails: mails as readonly FakeMail[],
    /** Messages that were published and not acknowledged. */
    queue: queue as ReadonlyMap<string, Queued>,
    watches: watches as readonly { readonly topic: string; readonly labelId: string }[],
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
    watchLastsMs: 7 * 24 * 3_600_000,
    /** Called with each notification before it is acknowledged. */
    onAcknowledged: (_notification: Notification): void => {},
    /** Takes notifications in mode `push`, in place of the queue. */
    onPublished: undefined as ((notification: Notification) => void) | undefined,
    get historyId(): number {
      return historyId
    },
    deliver({ labels = ['INBOX', 'UNREAD'], text = '', isLost = false }: NewMail = {}): FakeMail {
      historyId += 1 + (historyId % 3)
      const id = `mail-${historyId}`
      const internalDate = String(clock.now())
      const raw = { id, threadId: id, labelIds: labels, internalDate, payload: payloadOf(text) }
      const mail = { id, historyId, at: clock.now(), raw }
      mails.push(mail)
      const isWatched = clock.passed < watchEnds && labels.includes(watches.at(-1)?.labelId ?? '')
      if (isWatched && !isLost) publish({ emailAddress: account, historyId: String(historyId) })
      return mail
    },
    remove(id: string): void {
      gone.add(id)
      historyId += 1
    },
    publish,
    expireHistory(): void {
      expiredBefore = historyId
    },
    /** Opens this Google for one lifetime of the source. */
    open(faults: FaultSource, life: Lifetime): Google {
      function on<Result>(operation: string, signal: AbortSignal, effect: () => Result | Promise<Result>) {
        calls.push(operation)
        return withFault(faults, life, clock, operation, signal, effect)
      }
      return {
        gmail: {
          profile: (signal) =>
            on('profile', signal, () => ({ emailAddress: account, historyId: String(historyId) })),
          labels: (signal) => on('labels', signal, () => fake.labels),
          watch: (request, signal) =>
            on('watch', signal, () => {
              const { topic } = watches.at(-1) ?? request
              if (topic !== request.topic && clock.passed < watchEnds)
                throw failure('watched-elsewhere', { retryable: false })
              watches.push(request)
              watchEnds = clock.passed + fake.watchLastsMs
              return { historyId: String(historyId), endsAt: clock.now() + fake.watchLastsMs }
            }),
          stop: (signal) =>
            on('stop', signal, () => {
              watchEnds = 0
            }),
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

function payloadOf(text: string): RawMessage['payload'] {
  const data = Buffer.from(text).toString('base64url')
  return { mimeType: 'text/plain', headers: [], body: { data, size: text.length } }
}
