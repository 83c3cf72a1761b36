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
})

test('on a terminal no reason is cut: it continues in its column, or below its line where that is too narrow', () => {
  const slack = channels.slice(0, 2)
  assert.deepEqual(channelLines(slack, { ...io, columns: 82 }), [
    'CHANNEL   STATE                PENDING  PARKED  DETAIL',
    'terminal  open                 0        0',
    'slack     held until 12:04:00  3        2       bad-credential: Slack refuses',
    '                                                the token.',
  ])
  assert.deepEqual(channelLines(slack, { ...io, columns: 50 }), [
    'CHANNEL   STATE                PENDING  PARKED',
    'terminal  open                 0        0',
    'slack     held until 12:04:00  3        2',
    '  bad-credential: Slack refuses the token.',
  ])
})

test('deliveries that wait for a decision are named with commands to paste', () => {
  const steps = (...names: readonly string[]) =>
    nextSteps(
      channels.filter(({ channel }) => names.includes(channel)),
      { ...io, config: 'local/reveille.yaml' },
    )
  assert.deepEqual(steps('terminal', 'discord', 'telegram'), [])
  assert.deepEqual(steps('slack', 'whatsapp'), [
    'add channels.whatsapp: what is kept there cannot be sent before',
    'mend channels.slack: what waits goes on by itself once that is live',
    '`reveille deliveries --state parked --channel slack --config local/reveille.yaml` says why they are parked',
    '`reveille replay --parked --channel slack --config local/reveille.yaml` sends them again',
  ])
  const [slack] = channels.filter(({ channel }) => channel === 'slack')
  assert.ok(slack)
  assert.deepEqual(nextSteps([slack, { ...slack, channel: 'discord' }], io), [
    'mend channels.slack and channels.discord: what waits goes on by itself once that is live',
    '`reveille deliveries --state parked` says why they are parked',
    '`reveille replay --parked` sends them again',
  ])
})
