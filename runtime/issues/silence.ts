/** Finds endpoints from which nothing has come for longer than their policy's `expectEvery` allows. */

import type { CurrentLive, Timers } from '@reveille/engine'
import type { Reader } from '../store/port.ts'
import { endpointOption } from './configured-names.ts'
import type { Ledger } from './ledger.ts'

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
const longestWaitMs = 3_600_000
const minWaitMs = 250

export interface SilenceOptions {
  readonly ledger: Ledger
  readonly current: CurrentLive
  readonly read: Pick<Reader, 'requests'>
  readonly now: () => number
  readonly timers: Timers
  /** Whether this process looks for silence, for all nodes. Default: it does. */
  readonly leads?: () => boolean
  /** Whether other processes receive requests too. Default: false. */
  readonly isShared?: boolean
}

/** The newest requests among which one of a policy with a pattern is looked for. */
const maxLookedAt = 500

export function createSilenceWatch({
  ledger,
  current,
  read,
  now,
  timers,
  leads = () => true,
  isShared = false,
}: SilenceOptions) {
  const expected = new Map<string, Expected>()
  /** Only this process ends the silence of what it receives; what others receive is looked for. */
  const silentWaitMs = isShared ? 60_000 : longestWaitMs
  let timer: unknown
  let isClosed = false

  function* policies(): Generator<readonly [policy: string, expectEveryMs: number]> {
    const { endpoints, effectivePolicyOf } = current().snapshot
    for (const [policy, { expectEvery }] of Object.entries(endpoints)) {
      const effective = expectEvery === undefined ? undefined : effectivePolicyOf(policy)?.expectEvery
      if (effective !== undefined) yield [policy, effective.value]
    }
  }

  /** Learns which policies there are, and when their last requests came. */
  async function apply(): Promise<void> {
    const names = new Map(policies())
    for (const policy of expected.keys())
      if (!names.has(policy)) {
        expected.delete(policy)
        ledger.resolve('SILENCE', policy)
      }
    for (const policy of names.keys()) {
      if (expected.has(policy)) continue
      const each: Expected = { since: now() }
      expected.set(policy, each)
      const newest = await newestOf(policy)
      if (newest !== undefined) each.seenAt = Math.max(each.seenAt ?? 0, newest.receivedAt)
    }
    check()
  }

  /** Lists know no patterns, so that the newest requests are searched for one of a policy with parameters. */
  async function newestOf(policy: string) {
    if (!policy.includes(':')) return (await read.requests({ endpoint: policy, limit: 1 })).items[0]
    const { items } = await read.requests({ limit: maxLookedAt })
    return items.find(({ endpoint }) => policyOf(endpoint) === policy)
  }

  function silences(): Silence[] {
    const at = now()
    return [...policies()].flatMap(([policy, expectEveryMs]) => {
      const known = expected.get(policy)
      if (known === undefined) return []
      const silentForMs = Math.max(0, at - (known.seenAt ?? known.since))
      const isEarly = at - known.since < Math.min(graceMs, expectEveryMs)
      const isSilent = silentForMs >= expectEveryMs && !isEarly
      const lastSeen = known.seenAt === undefined ? {} : { lastSeen: known.seenAt }
      return [{ policy, expectEveryMs, ...lastSeen, silentForMs, isSilent }]
    })
  }

  function check(): void {
    timers.clearTimeout(timer)
    if (isClosed) return
    const all = silences()
    const silent = all.filter(({ isSilent }) => isSilent)
    // What cannot be read now is looked for with the next check.
    if (leads() && isShared && silent.length > 0) void noteUnseen(silent).catch(() => undefined)
    else if (leads()) silent.forEach(noteOnce)
    if (all.length === 0) return
    const waits = all.map((each) => (each.isSilent ? silentWaitMs : dueIn(each)))
    timer = timers.setTimeout(check, Math.max(minWaitMs, Math.min(longestWaitMs, ...waits)))
  }

  /** Another process may have received what this one waits for. */
  async function noteUnseen(silent: readonly Silence[]): Promise<void> {
    for (const { policy, expectEveryMs } of silent) {
      const since = now() - expectEveryMs
      const [own, all] = await Promise.all([
        read.requests({ endpoint: policy, since, limit: 1 }),
        read.requests({ since, limit: maxLookedAt }),
      ])
      for (const { endpoint, receivedAt } of [...own.items, ...all.items])
        if (policyOf(endpoint) === policy && receivedAt > (expected.get(policy)?.seenAt ?? 0))
          seen(policy, receivedAt)
    }
    for (const silence of silences()) if (silence.isSilent) noteOnce(silence)
  }

  function policyOf(endpoint: string): string | undefined {
    return current().snapshot.effectivePolicyOf(endpoint)?.expectEvery?.policy
  }

  function dueIn({ policy, expectEveryMs, silentForMs }: Silence): number {
    const since = expected.get(policy)?.since ?? 0
    return Math.max(expectEveryMs - silentForMs, since + Math.min(graceMs, expectEveryMs) - now())
  }

  /** The silence lasts, so it is counted once. */
  function noteOnce({ policy, lastSeen }: Silence): void {
    if (ledger.isOpen('SILENCE', policy)) return
    ledger.note({
      code: 'SILENCE',
      subject: policy,
      describe: () => ({
        cause: `Nothing has come to /${policy} ${lastSeen === undefined ? 'since the gateway started' : `since ${new Date(lastSeen).toISOString()}`}, and endpoints.${policy}.expectEvery expects a request every ${current().snapshot.endpoints[policy]?.expectEvery}.`,
        next: {
          label: 'See what the sender says about its deliveries, and whether it reaches this address',
          command: `reveille requests${endpointOption(policy)} --limit 5`,
        },
      }),
    })
  }

  function seen(policy: string, at: number): void {
    const each = expected.get(policy)
    if (each === undefined) return
    each.seenAt = at
    if (ledger.hasOpen()) ledger.resolve('SILENCE', policy)
  }

  return {
    apply,
    silences,
    /** A request came that a policy expects. */
    seen,
    close(): void {
      isClosed = true
      timers.clearTimeout(timer)
    },
  }
}
