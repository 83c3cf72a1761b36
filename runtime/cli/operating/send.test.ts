/** Runs `reveille send` for a slow delivery, against a fake gateway that answers as a test says. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DeliveryRecord } from '../../store/port.ts'
import { createGatewayCommands } from '../io-fixture.ts'
import type { ChannelStatus } from '../status-text.ts'

const noon = new Date(2026, 0, 31, 12).getTime()
const id = '019bd0a0-0000-7000-8000-0000003f9a1c'
const minute = 60_000

const delivery: DeliveryRecord = {
  id,
  state: 'pending',
  channel: 'slack',
  to: 'C1',
  text: 'Hello',
  receipts: [],
  attempts: 0,
  generation: 1,
  createdAt: noon,
  nextAt: noon,
}

const open: ChannelStatus = { channel: 'slack', state: 'open', pending: 1, parked: 0 }

interface Moment {
  readonly delivery?: Partial<DeliveryRecord>
  readonly channel?: ChannelStatus
}

/** Each pause moves the gateway to its next state; the last one stays. */
async function openMoments(t: TestContext, moments: readonly Moment[], columns?: number) {
  let [time, at] = [noon, 0]
  const moment = () => moments[Math.min(at, moments.length - 1)] ?? {}
  const answers: Readonly<Record<string, () => object>> = {
    'POST /api/deliveries': () => ({ ok: true, deliveryId: id, channel: 'slack', to: 'C1' }),
    [`GET /api/deliveries/${id}`]: () => ({ ...delivery, ...moment().delivery }),
    'GET /api/find': () => ({ items: [{ kind: 'delivery', id }] }),
    'GET /api/status': () => ({ budgets: [], channels: [moment().channel ?? open] }),
  }
  const clock = {
    now: () => time,
    pause: async (ms: number) => {
      time += ms
      at += 1
    },
  }
  return createGatewayCommands(t, ({ route }) => answers[route.split('?')[0] ?? '']?.(), {
    ...clock,
    ...(columns !== undefined && { columns }),
  })
}

const held: ChannelStatus = {
  ...open,
  state: 'held',
  code: 'bad-credential',
  reason: 'Slack refuses the token.',
  until: noon + 4 * minute,
}
const retried = { attempts: 2, code: 'unavailable', reason: 'Slack is down.', nextAt: noon + minute }
const over = { state: 'delivered', receipts: [{ id: '1' }, { id: '2' }] } as const

const slow: readonly Moment[] = [
  {},
  { channel: held },
  { channel: held },
  { delivery: retried },
  { delivery: over },
]

test('on a terminal each reason to wait is shown once, and then the end', async (t) => {
  const { run } = await openMoments(t, slow, 80)
  assert.deepEqual(await run('send', '--channel', 'slack', 'Hello'), {
    code: 0,
    out: '3f9a1c: delivered to slack:C1, 2 messages\n',
    err: 'slack is held until 12:04:00: bad-credential: Slack refuses the token.\nIt is tried again at 12:01:00: unavailable: Slack is down.\n',
  })
})

test('without a terminal only the end is shown', async (t) => {
  const { run } = await openMoments(t, slow)
  assert.deepEqual(await run('send', '--channel', 'slack', 'Hello'), {
    code: 0,
    out: '3f9a1c: delivered to slack:C1, 2 messages\n',
    err: '',
  })
})

test('after the timeout the reason to wait is shown, and the gateway keeps trying', async (t) => {
  const { run } = await openMoments(t, [{ channel: held }])
  const { code, out, err } = await run('send', '--channel', 'slack', 'Hello', '--timeout', '5')
  assert.deepEqual([code, out], [1, ''])
  assert.equal(
    err,
    '3f9a1c: pending, on its way to slack:C1\nslack is held until 12:04:00: bad-credential: Slack refuses the token.\n`reveille show 3f9a1c` says what becomes of it\n',
  )
  const { run: onTerminal } = await openMoments(t, [{ channel: held }], 80)
  assert.equal(
    (await onTerminal('send', '--channel', 'slack', 'Hello', '--timeout', '5')).err,
    'slack is held until 12:04:00: bad-credential: Slack refuses the token.\n3f9a1c: pending, on its way to slack:C1\n`reveille show 3f9a1c` says what becomes of it\n',
  )
  const shown = await run('deliveries', id)
  assert.match(
    shown.out,
    /^waits: "slack is held until 12:04:00: bad-credential: Slack refuses the token\."$/m,
  )
})

test('the end says how much has arrived, and which members of a group it did not reach', async (t) => {
  const ends: [Partial<DeliveryRecord>, code: number, text: string][] = [
    [
      { state: 'parked', code: 'timeout', reason: 'it may have arrived', receipts: [{ id: '1' }] },
      1,
      '3f9a1c: parked after 1 message: timeout: it may have arrived\n`reveille replay 3f9a1c` sends it again\n',
    ],
    [
      { state: 'skipped', code: 'BLANK_REPLY', reason: 'nothing is left' },
      1,
      '3f9a1c: not sent: BLANK_REPLY: nothing is left\n',
    ],
    [
      { state: 'delivered', receipts: [{ id: '1', partial: [{ target: '+49', reason: 'no such\nuser' }] }] },
      0,
      '3f9a1c: delivered to slack:C1\n  not to +49: no such user\n',
    ],
  ]
  for (const [end, code, text] of ends) {
    const { run } = await openMoments(t, [{ delivery: end }])
    const answer = await run('send', 'Hello')
    assert.deepEqual([answer.code, answer.out + answer.err], [code, text])
  }
})
