/** Finds endpoints from which nothing has come for longer than their policy's `expectEvery` allows. */

import type { CurrentLive, Snapshot, Timers } from '@reveille/engine'
import { endpointOption } from '../configured-names.ts'
import type { Reader } from '../store/port.ts'
import type { Ledger, Problem } from './ledger.ts'

export interface Silence {
  /** The policy that says `expectEvery`: an endpoint's name, or a pattern of names. */
  readonly policy: string
  readonly expectEveryMs: number
  /** When the last request came. Absent: none is known. Milliseconds since the Unix epoch. */
  readonly lastSeen?: number
  readonly silentForMs: number
  readonly isSilent: boolean
}

interface Expected {
  /** When the last request came, as far as that is known. */
  seenAt?: number
  /** When the policy was first known to this process. */
  readonly since: number
}

/** After a start senders have this long before they count as silent, because the gateway could not be reached before. */
const graceMs = 300_000
const maxWaitMs = 3_600_000
const minWaitMs = 250

export interface SilenceOptions {
  readonly ledger: Ledger
  readonly current: CurrentLive
  readonly read: Pick<Reader, 'requests'>
  readonly now: () => number
  readonly timers: Timers
  /** True if this process looks for silence, for all nodes. Default: it does. */
  readonly leads?: () => boolean
  /** True if other processes receive requests too. Default: false. */
  readonly isShared?: boolean
}

/** The newest requests among which one of a policy with a pattern is searched. */
const maxSearched = 500

export function createSilenceWatch(options: SilenceOptions) {
  const { ledger, current, now, timers, leads = () => true, isShared = false } = options
  const expected = new Map<string, Expected>()
  const find = createFinder(options)
  /** Only this process ends the silence of what it receives; what others receive is searched. */
  const silentWaitMs = isShared ? 60_000 : maxWaitMs
  let timer: unknown
  let isClosed = false

  /** Learns which policies there are, and when their last requests came. */
  async function apply(): Promise<void> {
    const names = new Set(policiesIn(current().snapshot).map(([policy]) => policy))
    for (const policy of expected.keys()) {
      if (names.has(policy)) continue
      expected.delete(policy)
      ledger.resolve('SILENCE', policy)
    }
    for (const policy of names) {
      if (expected.has(policy)) continue
      const expectation: Expected = { since: now() }
      expected.set(policy, expectation)
      const newest = await find.newest(policy)
      if (newest !== undefined) expectation.seenAt = Math.max(expectation.seenAt ?? 0, newest)
    }
    check()
  }

  function silences(): Silence[] {
    return policiesIn(current().snapshot).flatMap(([policy, expectEveryMs]) => {
      const expectation = expected.get(policy)
      return expectation === undefined ? [] : [silenceOf(policy, expectEveryMs, expectation, now())]
    })
  }

  function check(): void {
    timers.clearTimeout(timer)
    if (isClosed) return
    const all = silences()
    const silent = all.filter(({ isSilent }) => isSilent)
    // A failed read is repeated with the next check.
    if (leads() && isShared && silent.length > 0) void noteUnseen(silent).catch(() => undefined)
    else if (leads()) silent.forEach(noteOnce)
    if (all.length === 0) return
    const waits = all.map((each) => (each.isSilent ? silentWaitMs : dueIn(each)))
    timer = timers.setTimeout(check, Math.max(minWaitMs, Math.min(maxWaitMs, ...waits)))
  }

  /** Another process may have received what this one waits for. */
  async function noteUnseen(silent: readonly Silence[]): Promise<void> {
    for (const { policy, expectEveryMs } of silent) {
      const newest = await find.since(policy, now() - expectEveryMs)
      if (newest > (expected.get(policy)?.seenAt ?? 0)) seen(policy, newest)
    }
    for (const silence of silences()) if (silence.isSilent) noteOnce(silence)
  }

  function dueIn({ policy, expectEveryMs, silentForMs }: Silence): number {
    const since = expected.get(policy)?.since ?? 0
    return Math.max(expectEveryMs - silentForMs, since + Math.min(graceMs, expectEveryMs) - now())
  }

  /** The silence lasts, so it is counted once. */
  function noteOnce(silence: Silence): void {
    if (!ledger.isOpen('SILENCE', silence.policy)) ledger.note(silenceProblem(silence, current().snapshot))
  }

  /** A request came that a policy expects. */
  function seen(policy: string, at: number): void {
    const expectation = expected.get(policy)
    if (expectation === undefined) return
    expectation.seenAt = at
    ledger.resolve('SILENCE', policy)
  }

  return {
    apply,
    silences,
    seen,
    close(): void {
      isClosed = true
      timers.clearTimeout(timer)
    },
  }
}

function policiesIn({ endpoints, effectivePolicyOf }: Snapshot): [policy: string, expectEveryMs: number][] {
  return Object.entries(endpoints).flatMap(([policy, { expectEvery }]) => {
    const effective = expectEvery === undefined ? undefined : effectivePolicyOf(policy)?.expectEvery
    return effective === undefined ? [] : [[policy, effective.value]]
  })
}

function silenceOf(policy: string, expectEveryMs: number, { seenAt, since }: Expected, at: number): Silence {
  const silentForMs = Math.max(0, at - (seenAt ?? since))
  const isEarly = at - since < Math.min(graceMs, expectEveryMs)
  const isSilent = silentForMs >= expectEveryMs && !isEarly
  return { policy, expectEveryMs, ...(seenAt !== undefined && { lastSeen: seenAt }), silentForMs, isSilent }
}

/** Finds the requests that a policy covers. Lists know no patterns, so the newest requests of all are searched for one of a pattern. */
function createFinder({ read, current }: SilenceOptions) {
  const covers = (policy: string, endpoint: string) =>
    current().snapshot.effectivePolicyOf(endpoint)?.expectEvery?.policy === policy
  return {
    /** When the newest request came. */
    async newest(policy: string): Promise<number | undefined> {
      if (!policy.includes(':'))
        return (await read.requests({ endpoint: policy, limit: 1 })).items[0]?.receivedAt
      const { items } = await read.requests({ limit: maxSearched })
      return items.find(({ endpoint }) => covers(policy, endpoint))?.receivedAt
    },
    /** When the newest request after a time came; 0 without one. */
    async since(policy: string, since: number): Promise<number> {
      const [own, all] = await Promise.all([
        read.requests({ endpoint: policy, since, limit: 1 }),
        read.requests({ since, limit: maxSearched }),
      ])
      const found = [...own.items, ...all.items].filter(({ endpoint }) => covers(policy, endpoint))
      return Math.max(0, ...found.map(({ receivedAt }) => receivedAt))
    },
  }
}

function silenceProblem({ policy, lastSeen }: Silence, { endpoints }: Snapshot): Problem {
  const since =
    lastSeen === undefined ? 'since the gateway started' : `since ${new Date(lastSeen).toISOString()}`
  const describe = () => ({
    cause: `No request has arrived at /${policy} ${since}, and endpoints.${policy}.expectEvery expects a request every ${endpoints[policy]?.expectEvery}.`,
    label: 'See what the sender reports about its deliveries, and whether it reaches this address',
    command: `reveille requests${endpointOption(policy)} --limit 5`,
  })
  return { code: 'SILENCE', subject: policy, describe }
}
