/** Repeats one stored request, and decides what the replay may do again. */

import type { ReceivedRequest } from '@reveille/engine'
import { type Replayed, type ReplayRequest, restoreRequest } from '../http/index.ts'
import { createMutex } from '../mutex.ts'
import type { MintId } from '../store/id.ts'
import type { Id, RequestRecord, Store } from '../store/port.ts'
import { type Family, hasEffect, readFamily, whyUndelivered } from './family.ts'

export interface ReplaysOptions {
  readonly store: Pick<Store, 'read'>
  readonly replay: ReplayRequest
  readonly mintId: MintId
}

export interface ReplayTask {
  /** The id of the new request. Default: a new one. */
  readonly requestId?: Id
  /** The body in the place of the one that is kept. */
  readonly edited?: EditedBody | undefined
  /** Replies are delivered although an earlier one was. */
  readonly deliverAgain?: boolean | undefined
  /** An original without effect is left alone if a replay of it was accepted. */
  readonly onlyUndone?: boolean
  /** The name of the token of the operator who asked for it. */
  readonly by?: string | undefined
}

export interface EditedBody {
  readonly bytes: Uint8Array
  /** The body is JSON, whatever the original's content type says. */
  readonly isJson: boolean
}

export type ReplayAnswer =
  | ({ readonly ok: true; readonly requestId: Id; readonly replayOf: Id } & Omit<Replayed, 'isRecorded'>)
  | Unreplayable

/** Nothing was recorded. */
export interface Unreplayable {
  readonly ok: false
  readonly code: 'NOT_FOUND' | 'NOT_REPLAYABLE' | 'BODY_NOT_KEPT' | 'REPLAYED' | GatewayCode
  readonly sentence: string
}

/** The gateway could not take any request at that moment. */
export type GatewayCode = (typeof gatewayCodes)[number]

const gatewayCodes = ['BACKLOG', 'DRAINING', 'STORE_FULL', 'STORE_UNAVAILABLE'] as const

export type Replays = ReturnType<typeof createReplays>

export function createReplays({ store: { read }, replay, mintId }: ReplaysOptions) {
  // Two replays of one original at a time would both find that no reply was delivered yet.
  const mutex = createMutex()

  return {
    /** Returns a request as it would be replayed, at the time of its original. @throws StoreError as below */
    async restore(
      id: Id,
      edited?: EditedBody,
    ): Promise<{ readonly ok: true; readonly received: ReceivedRequest } | Unreplayable> {
      const record = await read.request(id)
      if (record === undefined) return refused('NOT_FOUND', 'There is no such request.')
      const problem = whyNotReplayable(record)
      if (problem !== undefined) return problem
      const received = restoreRequest(withBody(record, edited))
      return received === undefined ? refused('BODY_NOT_KEPT', bodyNotKept(record)) : { ok: true, received }
    },

    /** @throws StoreError where the store cannot be read */
    async perform(id: Id, task: ReplayTask = {}): Promise<ReplayAnswer> {
      const record = await read.request(id)
      if (record === undefined) return refused('NOT_FOUND', 'There is no such request.')
      const problem = whyNotReplayable(record)
      if (problem !== undefined) return problem
      return mutex.run(record.replayOf ?? id, () => performAlone(record, task))
    },
  }

  async function performAlone(record: RequestRecord, task: ReplayTask): Promise<ReplayAnswer> {
    const { requestId = mintId(), edited, deliverAgain = false, onlyUndone = false, by } = task
    const family = await readFamily(read, record)
    const done = onlyUndone ? replayOfUndone(record, family) : undefined
    if (done !== undefined) return refused('REPLAYED', `it was replayed already, as ${done.id}`)
    const { body, head } = withBody(record, edited)
    const { isRecorded, ...replayed } = await replay({
      record: { ...record, head },
      body: bufferOf(body),
      terms: {
        original: family.original,
        dedupe: edited === undefined && !hasEffect(record) && !family.hadEffect ? 'own' : 'apart',
        ...(by !== undefined && { by }),
        undelivered: deliverAgain ? undefined : await whyUndelivered(read, family),
      },
      requestId,
    })
    if (!isRecorded) {
      const code = gatewayCodes.find((each) => each === replayed.code)
      return code === undefined
        ? refused('NOT_REPLAYABLE', notCovered(record.endpoint))
        : refused(code, replayed.reason ?? '')
    }
    return { ok: true, requestId, replayOf: family.original, ...replayed }
  }
}

/** The record with the body that is replayed. */
function withBody(record: RequestRecord, edited: EditedBody | undefined) {
  const { body = new Uint8Array(), head = { headers: {}, query: {} } } = record
  const headers = edited?.isJson ? { ...head.headers, 'content-type': 'application/json' } : head.headers
  return { ...record, body: edited?.bytes ?? body, head: { ...head, headers } }
}

function whyNotReplayable(record: RequestRecord): Unreplayable | undefined {
  const { outcome, code, body, head } = record
  if (outcome === 'handshake')
    return refused('NOT_REPLAYABLE', 'A handshake is no event, so there is nothing to replay.')
  if (isSendersFault(record)) {
    const why = code === undefined ? '' : ` (${code})`
    return refused(
      'NOT_REPLAYABLE',
      `It was refused${why} before any mapping was asked; the body of such a request is never kept.`,
    )
  }
  return body === undefined || head === undefined ? refused('BODY_NOT_KEPT', bodyNotKept(record)) : undefined
}

/**
 * True if a request was refused for its sender's fault. One refused by a mapping or another setting has its body or its trace, or names
 * the mapping.
 */
export function isSendersFault({ outcome, mapping, body, trace, bodyKept }: RequestRecord): boolean {
  return outcome === 'refused' && (mapping ?? body ?? trace) === undefined && bodyKept !== true
}

/** Reason why the body of a request is missing, as a sentence. */
export function bodyNotKept(record: RequestRecord): string {
  const { outcome, forgottenAt } = record
  if (forgottenAt !== undefined) return `It was forgotten at ${new Date(forgottenAt).toISOString()}.`
  if (outcome === 'handshake') return 'The body of a request that was a handshake is never kept.'
  if (isSendersFault(record))
    return 'The body of a request that was refused before any mapping was asked is never kept.'
  if (outcome === 'ignored' || outcome === 'skipped')
    return `Its body is not kept any more: \`history.ignored\` says for how long those of ${outcome} requests are kept, as long as there is room for them.`
  const setting = outcome === 'failed' || outcome === 'refused' ? 'failed' : 'all'
  return `Its body is not kept: \`history.bodies: ${setting}\` keeps those of ${outcome} requests, as long as there is room for them.`
}

/** The accepted replay of an original without effect. */
function replayOfUndone(record: RequestRecord, { members }: Family): RequestRecord | undefined {
  if (hasEffect(record)) return undefined
  return members.find(({ id, outcome }) => id !== record.id && outcome === 'accepted')
}

function notCovered(endpoint: string): string {
  return `Nothing takes requests to the endpoint ${JSON.stringify(endpoint)} any more.`
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function refused(code: Unreplayable['code'], sentence: string): Unreplayable {
  return { ok: false, code, sentence }
}

/** True if the same replay may pass later without any change. */
export function isOfGateway(code: Unreplayable['code']): code is GatewayCode {
  return (gatewayCodes as readonly string[]).includes(code)
}
