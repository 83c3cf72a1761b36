/**
 * Notes requests without effect with the reason why they ended so: how each mapping was tried. A request is explained after the reply
 * to its sender, when the event loop is idle, and its record is stored with that.
 */

import type { CandidateTrace, Decision, HookRequest, Snapshot } from '@reveille/engine'
import type { Entry, Id, Reader, RequestRecord, RequestTrace, Store } from '../store/port.ts'
import { strikeOut } from '../strike-out.ts'

const shownCandidates = 50
/** How many requests may wait to be explained; each holds its body. */
const maxWaiting = 8
/** How many requests may be explained before their commit at one time; further ones are stored without a trace. */
const maxAwaited = 16
/** How many requests may be expected whose record has not come. There are none, unless a reply fails. */
const maxExpected = 64

interface Expected {
  readonly snapshot: Snapshot
  readonly request: HookRequest
  readonly decision: Decision
}

interface Waiting extends Expected {
  readonly record: RequestRecord
}

/** An ignored request, with why each mapping did not match. */
export interface ExplainedRequest extends Pick<Expected, 'snapshot' | 'request'> {
  readonly id: Id
  readonly candidates: readonly CandidateTrace[]
}

export interface TracedNotesOptions {
  readonly store: Store
  /** Strikes known secrets out of a text. */
  readonly mask: (text: string) => string
  /** Is called with each ignored request that was explained. Default: nothing happens. */
  readonly onExplained?: ((ignored: ExplainedRequest) => void) | undefined
}

export type TracedNotes = ReturnType<typeof createTracedNotes>

export function createTracedNotes({ store, mask, onExplained }: TracedNotesOptions) {
  const expected = new Map<Id, Expected>()
  const waiting: Waiting[] = []
  /** Records that the store does not have yet, because they wait to be explained. */
  const unstored = new Map<Id, RequestRecord>()
  let explaining: Promise<void> | undefined
  let awaited = 0
  let isClosed = false

  /** To be called before the reply, with the decision that the record will be about. */
  function expect(id: Id, snapshot: Snapshot, request: HookRequest, decision: Decision): void {
    expected.set(id, { snapshot, request, decision })
    const [oldest] = expected.keys()
    if (expected.size > maxExpected && oldest !== undefined) expected.delete(oldest)
  }

  /** Stores a record: at once, or with its trace if it is expected. Under a flood, only the newest requests are explained. */
  function note(record: RequestRecord): void {
    const found = expected.get(record.id)
    expected.delete(record.id)
    const isDecided = record.outcome === 'ignored' || record.outcome === 'failed'
    if (found === undefined || !isDecided || isClosed) {
      store.note(record)
      return
    }
    waiting.push({ ...found, record })
    unstored.set(record.id, record)
    if (waiting.length > maxWaiting) keep((waiting.shift() as Waiting).record)
    explaining ??= explainAll()
  }

  function keep(record: RequestRecord): void {
    store.note(record)
    unstored.delete(record.id)
  }

  async function explainAll(): Promise<void> {
    for (;;) {
      await new Promise(setImmediate)
      const next = waiting.pop()
      if (next === undefined) break
      const { record, snapshot, request } = next
      const candidates = await explain(next, mask)
      keep(candidates === undefined ? record : { ...record, trace: traceOf(candidates, next) })
      if (candidates !== undefined && record.outcome === 'ignored')
        onExplained?.({ id: record.id, snapshot, request, candidates })
    }
    explaining = undefined
  }

  /** Records that must not be dropped, of replays without effect and of what a mapping refuses, are accepted without actions. */
  async function accept(entry: Entry): ReturnType<Store['accept']> {
    const found = expected.size === 0 ? undefined : expected.get(entry.request.id)
    if (found === undefined || entry.actions.length > 0) return store.accept(entry)
    expected.delete(entry.request.id)
    if (awaited >= maxAwaited) return store.accept(entry)
    awaited += 1
    const trace = await explain(found, mask)
    awaited -= 1
    return store.accept(
      trace ? { ...entry, request: { ...entry.request, trace: traceOf(trace, found) } } : entry,
    )
  }

  const request: Reader['request'] = async (id) => unstored.get(id) ?? store.read.request(id)

  return {
    expect,
    /** The store, for those whose records are expected, and for those who read them. */
    store: Object.create(store, {
      note: { value: note },
      accept: { value: accept },
      read: { value: { ...store.read, request } },
    }) as Store,
    /** Notes what waits without its trace. Later records are noted at once. */
    async close(): Promise<void> {
      isClosed = true
      for (const { record } of waiting.splice(0)) keep(record)
      await explaining
    },
  }
}

/** No transform is called again, since the decision is known. Never rejects. */
async function explain(
  { snapshot, request, decision }: Expected,
  mask: TracedNotesOptions['mask'],
): Promise<readonly CandidateTrace[] | undefined> {
  try {
    const { candidates } = await snapshot.explain(request, { decided: decision })
    return candidates.map((candidate) => withoutSecrets(candidate, mask))
  } catch {
    return undefined
  }
}

/** What else a candidate holds are the operator's words. */
function withoutSecrets(candidate: CandidateTrace, mask: TracedNotesOptions['mask']): CandidateTrace {
  const { clause, params } = candidate
  const { actual, error } = clause ?? {}
  return {
    ...candidate,
    ...(clause && {
      clause: { ...clause, ...strikeOut({ ...(actual && { actual }), ...(error && { error }) }, mask) },
    }),
    ...(params && { params: strikeOut(params, mask) }),
  }
}

function traceOf(candidates: readonly CandidateTrace[], { request: { isForm } }: Expected): RequestTrace {
  const shown = candidates.slice(0, shownCandidates)
  return {
    candidates: shown,
    more: candidates.length - shown.length,
    ...(isForm === true && { isForm }),
  }
}
