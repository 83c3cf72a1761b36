import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelStatus } from '../../api/index.ts'
import type { Io } from '../io.ts'
import { channelLines, nextSteps } from './channel-text.ts'

const noon = new Date(2026, 0, 31, 12).getTime()
const io = { now: () => noon, env: {} } as Io
const none = { pending: 0, parked: 0 }

const channels: readonly ChannelStatus[] = [
  { channel: 'terminal', state: 'open', ...none },
  {
    channel: 'slack',
    state: 'held',
    code: 'bad-credential',
    reason: 'Slack refuses the token.',
    until: noon + 240_000,
    health: { ok: true, detail: 'as @reveille', at: noon },
    pending: 3,
    parked: 2,
  },
  { channel: 'discord', state: 'probing', code: 'unavailable', pending: 1, parked: 0 },
  { channel: 'telegram', state: 'open', health: { ok: true, detail: 'as @bot', at: noon }, ...none },
  { channel: 'signal', state: 'open', health: { ok: false, detail: 'no daemon', at: noon }, ...none },
  { channel: 'msteams', state: 'held', ...none },
  { channel: 'whatsapp', state: 'unconfigured', pending: 1, parked: 1 },
]

test('each channel has a line with its state, what is open in it, and why', () => {
  assert.deepEqual(channelLines(channels, io), [
    'CHANNEL   STATE                PENDING  PARKED  DETAIL',
    'terminal  open                 0        0',
    'slack     held until 12:04:00  3        2       bad-credential: Slack refuses the token.',
    'discord   probing              1        0       unavailable',
    'telegram  open                 0        0       as @bot',
    'signal    open                 0        0       its check failed: no daemon',
    'msteams   held                 0        0',
    'whatsapp  not configured       1        1',
  ])
  const narrow = channelLines(channels, { ...io, columns: 60 })
  assert.ok(narrow.every((line) => line.length <= 58))
})

test('what waits for somebody says for what', () => {
  const list = (channel: string) =>
    `${channel}: \`reveille deliveries --state parked --channel ${channel}\` says why, \`reveille replay --parked --channel ${channel}\` sends them again`
  assert.deepEqual(
    channels.flatMap((channel) => nextSteps(channel, io)),
    [
      'slack: mend channels.slack: what waits goes on by itself once that is live',
      list('slack'),
      'whatsapp: add channels.whatsapp: what waits for it cannot be sent',
      list('whatsapp'),
    ],
  )
})
