/** Writes the states of a gateway's channels: a line for each, and what can be done about them. */

import type { ChannelStatus } from '../../api/index.ts'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { listed } from '../counted.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { formatTable, shortTime } from '../table.ts'

const indent = 2
const gap = 2
/** With less room than this, words stand below their line and not beside it. */
const minWidth = 30

/** What a channel reports is broken to the terminal's width and never cut, since it says what to do. */
export function channelLines(channels: readonly ChannelStatus[], io: Io): string[] {
  const rows = channels.map((status) => [
    status.channel,
    stateText(status, io.now()),
    String(status.pending),
    String(status.parked),
  ])
  const table = formatTable(
    ['CHANNEL', 'STATE', 'PENDING', 'PARKED', ''],
    [...rows.map((row) => [...row, ''])],
  )
  const [head = '', ...lines] = table.trimEnd().split('\n')
  const left = head.length + gap
  const room = (io.columns ?? Number.POSITIVE_INFINITY) - indent
  const isBeside = room - left >= minWidth
  const broken = channels.map((status) => {
    const text = printable(detailText(status))
    return text === '' ? [] : wrapWords(text, isBeside ? room - left : room - indent)
  })
  const below = ' '.repeat(isBeside ? left : indent)
  return [
    isBeside ? `${head.padEnd(left)}DETAIL` : head,
    ...lines.flatMap((line, index) => {
      const [first = '', ...others] = broken[index] ?? []
      if (!isBeside) return [line, ...(broken[index] ?? []).map((each) => below + each)]
      return [`${line.padEnd(left)}${first}`.trimEnd(), ...others.map((each) => below + each)]
    }),
  ]
}

/** Commands for what only an operator can resolve. */
export function nextSteps(channels: readonly ChannelStatus[], io: Io): string[] {
  const keys = (which: (status: ChannelStatus) => boolean) =>
    channels.filter(which).map(({ channel }) => `channels.${channel}`)
  const absent = keys(({ state, pending, parked }) => state === 'unconfigured' && pending + parked > 0)
  const refused = keys(
    (status) =>
      status.state !== 'unconfigured' && status.state !== 'open' && status.code === 'bad-credential',
  )
  const steps: string[] = []
  if (absent.length > 0)
    steps.push(`add ${listed(absent, absent.length)}: what is kept there cannot be sent before`)
  if (refused.length > 0)
    steps.push(`mend ${listed(refused, refused.length)}: what waits goes on by itself once that is live`)
  return [...steps, ...parkedSteps(channels, io)]
}

function parkedSteps(channels: readonly ChannelStatus[], io: Io): string[] {
  const [first, ...others] = channels.filter(({ state, parked }) => state !== 'unconfigured' && parked > 0)
  if (first === undefined) return []
  const one = others.length === 0 ? ` --channel ${first.channel}` : ''
  return [
    `${pasted(`deliveries --state parked${one}`, io)} says why they are parked`,
    `${pasted(`replay --parked${one}`, io)} sends them again`,
  ]
}

/** `slack is held until 12:04:10: bad-credential: Slack refuses the token.`; undefined where the channel is not held. */
export function holdText(status: ChannelStatus | undefined, now: number): string | undefined {
  if (status === undefined || status.state === 'open') return undefined
  const why = status.state === 'unconfigured' ? [] : [status.code, status.reason].filter(Boolean)
  const state = status.state === 'probing' ? 'tried with one delivery' : stateText(status, now)
  return [`${status.channel} is ${state}`, ...why].join(': ')
}

function stateText(status: ChannelStatus, now: number): string {
  switch (status.state) {
    case 'held':
      return status.until === undefined ? 'held' : `held until ${shortTime(status.until, now)}`
    case 'unconfigured':
      return 'not configured'
    default:
      return status.state
  }
}

/** Why the channel is held; else what its service says of the credential. */
function detailText(status: ChannelStatus): string {
  if (status.state === 'unconfigured') return ''
  const { code, reason, health } = status
  if (code !== undefined || reason !== undefined) return [code, reason].filter(Boolean).join(': ')
  if (health === undefined) return ''
  return health.ok ? (health.detail ?? '') : `its check failed: ${health.detail ?? 'no reason was given'}`
}
