/** Owns how the channels of a gateway are told: a line for each, and what somebody can do about them. */

import type { ChannelStatus } from '../../api/index.ts'
import type { Io } from '../io.ts'
import { programName } from '../pasted.ts'
import { formatTable, shortTime } from '../table.ts'

const indent = 2

export function channelLines(channels: readonly ChannelStatus[], io: Io): string[] {
  const rows = channels.map((status) => [
    status.channel,
    stateText(status, io.now()),
    String(status.pending),
    String(status.parked),
    detailText(status),
  ])
  const width = io.columns === undefined ? undefined : io.columns - indent
  return formatTable(['CHANNEL', 'STATE', 'PENDING', 'PARKED', 'DETAIL'], rows, width).trimEnd().split('\n')
}

/** What nothing but somebody's doing moves. */
export function nextSteps(status: ChannelStatus, io: Io): string[] {
  const { channel, pending, parked, state } = status
  const program = programName(io)
  const steps: string[] = []
  if (state === 'unconfigured' && pending > 0)
    steps.push(`add channels.${channel}: what waits for it cannot be sent`)
  if (state !== 'unconfigured' && state !== 'open' && status.code === 'bad-credential')
    steps.push(`mend channels.${channel}: what waits goes on by itself once that is live`)
  if (parked > 0) {
    const filter = `--parked --channel ${channel}`
    const list = `${program} deliveries --state parked --channel ${channel}`
    steps.push(`\`${list}\` says why, \`${program} replay ${filter}\` sends them again`)
  }
  return steps.map((step) => `${channel}: ${step}`)
}

/** `held until 12:04:10: bad-credential`; nothing where the channel is open. */
export function holdText(status: ChannelStatus | undefined, now: number): string | undefined {
  if (status === undefined || status.state === 'open') return undefined
  const code = status.state === 'unconfigured' ? '' : (status.code ?? '')
  return [stateText(status, now), code].filter(Boolean).join(': ')
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

/** Why it is held; else what its service says of the credential. */
function detailText(status: ChannelStatus): string {
  if (status.state === 'unconfigured') return ''
  const { code, reason, health } = status
  if (code !== undefined || reason !== undefined) return [code, reason].filter(Boolean).join(': ')
  if (health === undefined) return ''
  return health.ok ? (health.detail ?? '') : `its check failed: ${health.detail ?? 'no reason was given'}`
}
