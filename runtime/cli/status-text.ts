/** Says in words how the parts of a gateway fare, for `status`, `doctor` and whatever waits for one of them. */

import type { Answer } from '../api/routes/client.ts'
import type { DatabaseState, NodeRecord } from '../store/port.ts'
import type { Io } from './io.ts'
import { commandLine, counted, listed, shortTime } from './print.ts'

type Status = Answer<'readStatus'>
export type ChannelStatus = Status['channels'][number]
export type SourceStatus = Pick<Status['sources'][number], 'source' | 'state' | 'detail' | 'counts'>

export function heartbeatText(
  { state, failures, since, nextAt, code }: Status['heartbeat'],
  now: number,
): string {
  const at = (words: string, time: number | undefined) =>
    time === undefined ? '' : `${words} ${shortTime(time, now)}`
  const why = [code, counted(failures, 'failure')].filter(Boolean).join(', ')
  return {
    running: `running${at(' since', since)}`,
    failing: `failing${at(' since', since)} (${why})${at(', tried again at', nextAt)}`,
    quiet: `quiet hours${at(' until', nextAt)}`,
    budget: `the budget of today is spent, it waits${at(' until', nextAt)}`,
    idle: `idle${at(', next heartbeat at', nextAt)}`,
  }[state]
}

/** `endpoints.github.budget 12 of 200 runs, 90 of 1,000 tokens`. */
export function budgetText({
  key,
  limit,
  runs,
  tokens,
  usd = 0,
  isSpent,
}: Status['budgets'][number]): string {
  const spent = { runs, tokens, usd: Math.round(usd * 100) / 100 }
  const parts = (['runs', 'tokens', 'usd'] as const).flatMap((unit) => {
    const most = limit[unit]
    const noun = unit === 'usd' ? 'USD' : unit
    return most === undefined
      ? []
      : `${spent[unit].toLocaleString('en')} of ${most.toLocaleString('en')} ${noun}`
  })
  return `${key} ${parts.join(', ')}${isSpent ? ' (spent)' : ''}`
}

/** `slack: held until 12:04:10, 3 pending, 1 parked: bad-credential: Slack refuses the token.` */
export function channelText(status: ChannelStatus, now: number): string {
  const { channel, pending, parked } = status
  const counts = [pending > 0 && `${pending} pending`, parked > 0 && `${parked} parked`].filter(Boolean)
  const head = [`${channel}: ${channelState(status, now)}`, ...counts].join(', ')
  return [head, ...detailOf(status)].join(': ')
}

/** `slack is held until 12:04:10: bad-credential: Slack refuses the token.`; undefined where the channel is not held. */
export function holdText(status: ChannelStatus | undefined, now: number): string | undefined {
  if (status === undefined || status.state === 'open') return undefined
  const why = [status.code, status.reason].filter(Boolean)
  const state = status.state === 'probing' ? 'tried with one delivery' : channelState(status, now)
  return [`${status.channel} is ${state}`, ...why].join(': ')
}

function channelState({ state, until }: ChannelStatus, now: number): string {
  if (state === 'unconfigured') return 'not configured'
  return state === 'held' && until !== undefined ? `held until ${shortTime(until, now)}` : state
}

/** Reason why the channel is held; else its service's report on the credential. */
function detailOf({ code, reason, health }: ChannelStatus): readonly (string | undefined)[] {
  if (code !== undefined || reason !== undefined) return [code, reason].filter(Boolean)
  if (health?.ok !== false) return [health?.detail].filter(Boolean)
  return [`its check failed: ${health.detail ?? 'no reason was given'}`]
}

/** Commands for what only an operator can resolve. */
export function nextSteps(channels: readonly ChannelStatus[], io: Pick<Io, 'env' | 'config'>): string[] {
  const keys = (which: (status: ChannelStatus) => boolean) => {
    const found = channels.filter(which).map(({ channel }) => `channels.${channel}`)
    return found.length === 0 ? undefined : listed(found, found.length)
  }
  const isAbsent = ({ state }: ChannelStatus) => state === 'unconfigured'
  const absent = keys((each) => isAbsent(each) && each.pending + each.parked > 0)
  const refused = keys((each) => !isAbsent(each) && each.state !== 'open' && each.code === 'bad-credential')
  const [parked, ...others] = channels.filter((each) => !isAbsent(each) && each.parked > 0)
  const channelOption = others.length === 0 ? ` --channel ${parked?.channel}` : ''
  return [
    ...(absent ? [`add ${absent}: what is kept there cannot be sent before`] : []),
    ...(refused ? [`fix ${refused}: deliveries that wait go on once that is live`] : []),
    ...(parked
      ? [
          `${commandLine(`deliveries --state parked${channelOption}`, io)} says why they are parked`,
          `${commandLine(`replay --parked${channelOption}`, io)} sends them again`,
        ]
      : []),
  ]
}

const sourceStates: Readonly<Record<SourceStatus['state'], string>> = {
  starting: 'starting',
  working: 'working',
  failing: 'failing',
  waiting: 'waits for an operator',
  'held-elsewhere': 'held by another process',
  stopped: 'stopped',
}

/** The state, what the source says about it, its times, and its counts, a line each. */
export function sourceLines(
  { state, since, detail, times = {}, counts = {} }: Status['sources'][number],
  now: number,
): string[] {
  const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const moments = Object.entries(times).map(([name, at]) => `${words(name)} ${shortTime(at, now)}`)
  const numbers = Object.entries(counts).map(
    ([name, count]) => `${count.toLocaleString('en')} ${words(name)}`,
  )
  return [
    `${sourceStates[state]} since ${shortTime(since, now)}`,
    detail,
    moments.join(', '),
    numbers.join(', '),
  ].filter(Boolean)
}

/** A line for each node, and one that says that they differ. */
export function nodeLines(nodes: readonly NodeRecord[], now: number): string[] {
  const lines = nodes.map((node) =>
    [
      `${node.name || node.id}${node.isSelf ? ' (this one)' : ''}`,
      node.role,
      node.version,
      node.generation === undefined ? 'nothing live' : `generation ${node.generation} (${node.digest})`,
      `since ${shortTime(node.startedAt, now)}`,
      node.leads.length > 0 && `leads ${node.leads.join(' and ')}`,
      node.wakeUp === 'poll' && 'polls, as notifications do not arrive',
    ]
      .filter(Boolean)
      .join(', '),
  )
  return [...lines, ...[differences(nodes) ?? []].flat()]
}

/** Says that nodes serve different configurations, or undefined. */
export function differences(nodes: readonly NodeRecord[]): string | undefined {
  const alike = Map.groupBy(nodes, ({ sharedDigest }) => sharedDigest)
  alike.delete(undefined)
  if (alike.size < 2) return undefined
  const sides = [...alike.values()].map((on) => {
    const digests = new Set(on.map(({ digest }) => digest))
    return `${[...digests].join(', ')} on ${on.map(({ name }) => name).join(', ')}`
  })
  return `they serve different configurations: ${sides.join('; ')}`
}

export function databaseText({ version, oldestTransaction }: DatabaseState): string {
  return [`PostgreSQL ${version}`, oldTransactionText(oldestTransaction)].filter(Boolean).join('; ')
}

/** A transaction of a backup may last for minutes; one that is older than this is more likely forgotten. Milliseconds. */
const oldTransactionMs = 300_000

/** Names a transaction that is open for so long that dead rows pile up, or returns undefined. */
export function oldTransactionText(oldest: DatabaseState['oldestTransaction']): string | undefined {
  if (oldest === undefined || oldest.ageMs < oldTransactionMs) return undefined
  return `a transaction of ${oldest.by} is open for ${Math.floor(oldest.ageMs / 60_000)} minutes, and keeps dead rows from being removed`
}

/** Names the files that a start could not use and the generation that is served in their place. */
export function lastGoodText({ generation, files }: NonNullable<Status['lastGood']>): string {
  const [verb, them] = files.length === 1 ? ['is', 'it'] : ['are', 'them']
  return `${files.join(', ')} ${verb} broken since before the start, and served as generation ${generation} had ${them}`
}

/** `slack:C0123456789`. */
export function addressText({ channel, to }: { readonly channel: string; readonly to?: string }): string {
  return to === undefined ? channel : `${channel}:${to}`
}
