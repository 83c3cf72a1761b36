/**
 * Makes the record of every request: it alone decides what is committed before the reply, what is noted, and what neither. Records of
 * requests without effect say how each mapping was tried: one that is noted is explained after the reply, when the event loop is idle.
 */

import type { CandidateTrace, Snapshot } from '@reveille/engine'
import { redact } from '../../redact.ts'
import type { Id, Reader, RequestRecord, RequestTrace, Store } from '../../store/port.ts'
import {
  type Concluded,
  type Decided,
  isRefusedByConfiguration,
  outcomeOfError,
  type RequestFacts,
  type RequestOutcome,
} from '../request-context.ts'
import { composeEntry, composeRecord, withDispositions } from './entry.ts'

/** Number of candidates whose trace is stored. */
const maxCandidates = 50
/** Maximum number of requests that wait to be explained; each holds its body. */
const maxWaiting = 8
/** Maximum number of requests explained before their commit at one time; further ones are stored without a trace. */
const maxAwaited = 16

interface Waiting extends Decided {
  readonly record: RequestRecord
  readonly snapshot: Snapshot
}

export interface RecorderOptions {
  readonly store: Pick<Store, 'accept' | 'note' | 'read'>
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** True if the main session lives in another system, which is given every event at once. Default: it does not. */
  readonly relaysEvents?: () => boolean
  /** Redacts known secrets. */
  readonly mask: (text: string) => string
}

export type Recorder = ReturnType<typeof createRecorder>

export function createRecorder(options: RecorderOptions) {
  const { store, now, relaysEvents = () => false } = options
  const explainer = createExplainer(options)

  /** Resolves with the outcome, corrected by what the store made of it. @throws StoreError */
  async function commit({ facts, outcome, decided }: Concluded): Promise<RequestOutcome> {
    if (outcome.outcome === 'accepted') {
      const entry = composeEntry(facts, outcome, now(), relaysEvents)
      return withDispositions(await store.accept(entry), outcome)
    }
    const record = composeRecord(facts, outcome)
    const trace =
      decided && (await explainer.explainNow({ ...decided, snapshot: facts.live.snapshot, record }))
    await store.accept({ request: trace ? { ...record, trace } : record, actions: [] })
    return outcome
  }

  return {
    /**
     * Keeps a request as its outcome asks for, and resolves with the outcome once it may be replied. Never rejects: what cannot be
     * committed fails, which is noted.
     */
    async keep(concluded: Concluded): Promise<RequestOutcome> {
      const { facts, decided } = concluded
      let { outcome } = concluded
      try {
        if (isCommitted(facts, outcome)) return await commit(concluded)
      } catch (error) {
        outcome = outcomeOfError(error)
      }
      if (facts.replay !== undefined || isHealthCheck(facts, outcome)) return outcome
      const record = composeRecord(facts, outcome)
      if (decided && (outcome.outcome === 'ignored' || outcome.outcome === 'failed'))
        explainer.explainLater({ ...decided, snapshot: facts.live.snapshot, record })
      else store.note(record)
      return outcome
    },
    /** Reads the store, with the records that wait to be explained. */
    read: explainer.read,
    /** Notes what waits without its trace. Later records are noted at once. */
    close: explainer.close,
  }
}

/** Codes that say something about the gateway at that moment, and nothing about the request. */
const inabilities: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'DRAINING',
  'BACKLOG',
  'STORE_FULL',
  'STORE_UNAVAILABLE',
])

/** True if the gateway could accept no request at that moment, or this one no more. No replay is recorded then. */
export function isOfGateway(outcome: RequestOutcome): boolean {
  return 'code' in outcome && inabilities.has(outcome.code)
}

/**
 * True if the record has to be on the disk before the reply: that of an accepted request, of one that another configuration would not
 * refuse, and of a replay. Other records may be lost in a flood.
 */
function isCommitted({ replay }: RequestFacts, outcome: RequestOutcome): boolean {
  if (outcome.outcome === 'accepted') return true
  if (replay !== undefined) return !isOfGateway(outcome)
  return outcome.outcome === 'refused' && isRefusedByConfiguration(outcome)
}

/** True if somebody asked if there are hooks at all, without naming one, which is not worth a record. */
export function isHealthCheck({ endpoint }: RequestFacts, outcome: RequestOutcome): boolean {
  return endpoint === undefined && 'code' in outcome && outcome.code === 'METHOD_NOT_ALLOWED'
}

function createExplainer({ store, mask }: RecorderOptions) {
  /** Records that the store does not have yet, because they wait to be explained. */
  const waiting = new Map<Id, RequestRecord>()
  let explaining = Promise.resolve()
  let awaited = 0
  let isClosed = false

  function note(record: RequestRecord): void {
    if (waiting.delete(record.id)) store.note(record)
  }

  return {
    /** Notes a record with its trace, one after the other; under a flood, most are noted without. */
    explainLater(decided: Waiting): void {
      const { record } = decided
      if (isClosed || waiting.size >= maxWaiting) {
        store.note(record)
        return
      }
      waiting.set(record.id, record)
      explaining = explaining.then(async () => {
        await new Promise(setImmediate)
        const trace = waiting.has(record.id) ? await explain(decided, mask) : undefined
        note(trace === undefined ? record : { ...record, trace })
      })
    },

    /** Resolves with undefined where too many requests are being explained. */
    async explainNow(decided: Waiting): Promise<RequestTrace | undefined> {
      if (awaited >= maxAwaited) return undefined
      awaited += 1
      const trace = await explain(decided, mask)
      awaited -= 1
      return trace
    },
    read: {
      ...store.read,
      request: async (id) => waiting.get(id) ?? store.read.request(id),
    } satisfies Reader,
    async close(): Promise<void> {
      isClosed = true
      for (const record of waiting.values()) note(record)
      await explaining
    },
  }
}

/** No transform is called again, since the decision is known. Never rejects. */
async function explain(
  { snapshot, request, decision }: Waiting,
  mask: RecorderOptions['mask'],
): Promise<RequestTrace | undefined> {
  try {
    const { candidates, more = 0 } = await snapshot.explain(request, { decided: decision, maxCandidates })
    const shown = candidates.map((candidate) => withoutSecrets(candidate, mask))
    return { candidates: shown, more, ...(request.isForm === true && { isForm: true }) }
  } catch {
    return undefined
  }
}

/** Redacts the parts of a candidate that hold payload values; the others are the operator's own words. */
function withoutSecrets(candidate: CandidateTrace, mask: RecorderOptions['mask']): CandidateTrace {
  const { clause, params } = candidate
  const { actual, error } = clause ?? {}
  return {
    ...candidate,
    ...(clause && {
      clause: { ...clause, ...redact({ ...(actual && { actual }), ...(error && { error }) }, mask) },
    }),
    ...(params && { params: redact(params, mask) }),
  }
}
