/** Tests when a person is alerted to issues, in whose words, and what becomes of an alert that fails. The clock is the test's. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Settings } from '@reveille/engine'
import { Webhook } from 'standardwebhooks'
import { type IssueRecord, type Severity, severities } from '../store/port.ts'
import { createAlerts } from './alerts.ts'

type Ways = Settings['gateway']['issues']

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
const webhook = { url: 'https://alerts.example/reveille', secret }
const minute = 60_000

function issue(subject: string, fields: Partial<IssueRecord> = {}): IssueRecord {
  const code = fields.code ?? 'TRANSFORM_FAILING'
  return {
    key: `${code}:${subject}`,
    code,
    subject,
    severity: 'failing',
    state: 'open',
    count: 1,
    first: 0,
    last: 0,
    cause: 'order.ts throws sk-hidden-key and "words of a sender".',
    next: { label: 'Fix sk-hidden-key' },
    ...fields,
  }
}

interface Call {
  readonly id: string
  readonly type: string
  readonly data: IssueRecord
}

/** Alerts over issues that the test changes; what is on record of them outlives the process. */
function createFixture(ways: Partial<Ways>, stored: IssueRecord[] = []) {
  const state = { now: Date.now(), leads: true, refusal: '', status: 204, writes: true, attempts: 0 }
  const settings = { notify: false, severity: 'failing', ...ways } as Ways
  const issues = stored
  const messages: { channel: string; to?: string; text: string }[] = []
  const calls: Call[] = []
  const open = new Set<string>()
  let timers: { at: number; run: () => void }[] = []
  const alerts = createAlerts({
    ledger: {
      note: ({ code, subject }) => void open.add(`${code}:${subject}`),
      resolve: (code, subject) => void open.delete(`${code}:${subject}`),
      flush: async () => {},
    },
    issues: async () => issues,
    async change(changes) {
      if (!state.writes) throw new Error('the disk is full')
      for (const change of changes) {
        const index = issues.findIndex(({ key }) => key === change.key)
        issues[index] = { ...issues[index], ...change } as IssueRecord
      }
    },
    settings: () => settings,
    async send(message) {
      state.attempts += 1
      if (state.refusal !== '') return state.refusal
      messages.push(message)
      return undefined
    },
    fetch: (async (_url: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
      state.attempts += 1
      const id = String(headers['webhook-id'])
      // `verify` would look at the real clock.
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      assert.equal(headers['webhook-signature'], new Webhook(secret).sign(id, at, body))
      assert.ok(Math.abs(at.getTime() - state.now) <= 1000)
      calls.push({ ...JSON.parse(body), id })
      return new Response(null, { status: state.status })
    }) as never,
    mask: (text) => text.replaceAll('sk-hidden-key', '[redacted]'),
    log: { warn() {} },
    now: () => state.now,
    timers: {
      setTimeout(run: () => void, ms: number) {
        const timer = { at: state.now + ms, run }
        timers.push(timer)
        return timer
      },
      clearTimeout(timer: unknown) {
        timers = timers.filter((each) => each !== timer)
      },
    } as never,
    leads: () => state.leads,
  })

  async function pass(ms: number): Promise<void> {
    const end = state.now + ms
    for (;;) {
      const [next] = timers.filter(({ at }) => at <= end).sort((left, right) => left.at - right.at)
      if (next === undefined) break
      timers = timers.filter((each) => each !== next)
      state.now = Math.max(state.now, next.at)
      next.run()
      for (let rounds = 0; rounds < 20; rounds += 1) await setImmediate()
    }
    state.now = end
  }

  return {
    alerts,
    state,
    issues,
    messages,
    calls,
    open,
    pass,
    /** Issues have changed, and what follows within the time has happened. */
    async changed(ms: number) {
      alerts.changed()
      await pass(ms)
    },
    end: (key: string) => {
      const index = issues.findIndex((each) => each.key === key)
      issues[index] = { ...issues[index], state: 'resolved' } as IssueRecord
    },
  }
}

for (const [index, severity] of severities.entries())
  test(`severity ${severity}: that and worse is sent both ways, and nothing less`, async () => {
    const all = severities.map((each: Severity) => issue(each, { severity: each }))
    const { changed, messages, calls } = createFixture(
      { severity, channel: 'board', to: 'oncall', webhook },
      all,
    )
    await changed(minute)
    const expected = severities.slice(0, index + 1)
    assert.deepEqual(
      calls.map(({ data }) => data.severity),
      expected,
    )
    const [{ channel, to, text } = { channel: '', to: '', text: '' }, ...others] = messages
    assert.deepEqual([channel, to, others], ['board', 'oncall', []])
    assert.deepEqual(
      severities.filter((each) => text.includes(`- ${each}: `)),
      expected,
    )
  })

test('the end of an issue is sent to the person who was alerted to it, once, and nothing else is', async () => {
  const { changed, end, messages, calls, issues } = createFixture(
    { channel: 'board', to: 'oncall', webhook },
    [issue('orders')],
  )
  await changed(minute)
  issues.push(issue('shop', { state: 'resolved' }))
  end('TRANSFORM_FAILING:orders')
  for (let times = 0; times < 3; times += 1) await changed(minute)
  assert.deepEqual(
    messages.map(({ to, text }) => [to, text.split('\n')[0]]),
    [
      ['oncall', 'Reveille issues: 1 opened'],
      ['oncall', 'Reveille issues: 1 closed'],
    ],
  )
  assert.match(messages[1]?.text ?? '', /- closed: TRANSFORM_FAILING `orders`/)
  assert.deepEqual(
    calls.map(({ type, data }) => `${type} ${data.subject}`),
    ['issue.opened orders', 'issue.closed orders'],
  )
})

test('of an issue that is muted nothing more is sent, neither that it is open nor that it is over', async () => {
  const issues = [issue('orders', { state: 'muted' }), issue('shop')]
  const { changed, end, messages, calls } = createFixture({ channel: 'board', webhook }, issues)
  await changed(minute)
  issues[1] = { ...(issues[1] as IssueRecord), state: 'muted' }
  await changed(minute)
  for (const subject of ['orders', 'shop']) end(`TRANSFORM_FAILING:${subject}`)
  await changed(minute)
  assert.deepEqual(
    [messages.length, calls.map(({ type, data }) => `${type} ${data.subject}`)],
    [1, ['issue.opened shop']],
  )
})

test('no secret is in a message or in a call, and no words of a sender are in a message', async () => {
  const { changed, messages, calls } = createFixture({ channel: 'board', webhook }, [issue('orders')])
  await changed(minute)
  assert.match(messages[0]?.text ?? '', /Fix \[redacted\]/)
  assert.doesNotMatch(messages[0]?.text ?? '', /words of a sender/)
  assert.match(calls[0]?.data.cause ?? '', /throws \[redacted\] and/)
  assert.doesNotMatch(JSON.stringify([messages, calls]), /sk-hidden-key/)
})

test('issues that do not cease make few messages, each with all that is new', async () => {
  const { changed, messages, issues } = createFixture({ channel: 'board' })
  for (let number = 0; number < 360; number += 1) {
    issues.push(issue(`mapping-${number}`))
    await changed(10_000)
  }
  assert.ok(messages.length < 15, `${messages.length} messages in an hour`)
  const reported = messages.map(({ text }) => Number(/: (\d+) opened/.exec(text)?.[1]))
  assert.ok(reported.reduce((sum, count) => sum + count) > 250)
})

for (const [way, fail, fix] of [
  ['channel', { refusal: 'board is not configured' }, { refusal: '' }],
  ['webhook', { status: 500 }, { status: 204 }],
] as const)
  test(`${way}: an alert that fails is repeated, is an issue after the third time, and arrives once it works`, async () => {
    const { changed, pass, state, messages, calls, open } = createFixture(
      way === 'channel' ? { channel: 'board' } : { webhook },
      [issue('orders')],
    )
    Object.assign(state, fail)
    await changed(10_000)
    assert.deepEqual([...open], [], 'a failure or two is a matter of seconds')
    for (let times = 0; times < 200; times += 1) await changed(3000)
    assert.ok(state.attempts < 12, `${state.attempts} attempts in ten minutes`)
    assert.deepEqual([...open], [`ALERTS_FAIL:gateway.issues.${way}`])
    const failed = calls.splice(0)
    assert.equal(
      new Set(failed.map(({ id }) => id)).size,
      way === 'channel' ? 0 : 1,
      'one id for all attempts',
    )
    Object.assign(state, fix)
    await pass(11 * minute)
    assert.equal(messages.length + calls.length, 1)
    assert.deepEqual([...open], [])
    for (const { id } of calls) assert.equal(id, failed[0]?.id)
  })

test('an issue about the channel that alerts, or about alerts, is sent the other way alone', async () => {
  const { changed, messages, calls } = createFixture({ channel: 'board', webhook }, [
    issue('board', { code: 'CHANNEL_REFUSES' }),
    issue('slack', { code: 'CHANNEL_REFUSES' }),
    issue('gateway.issues.channel', { code: 'ALERTS_FAIL' }),
    issue('gateway.issues.webhook', { code: 'ALERTS_FAIL' }),
  ])
  await changed(minute)
  assert.match(messages[0]?.text ?? '', /2 opened\n.*`slack`.*\n.*`gateway\.issues\.webhook`/)
  assert.deepEqual(
    calls.map(({ data }) => data.subject),
    ['board', 'slack', 'gateway.issues.channel'],
  )
})

test('an alert that was sent is not sent again by another process, while the store cannot write nor after it can', async () => {
  const stored = [issue('orders')]
  const first = createFixture({ webhook }, stored)
  first.state.writes = false
  for (let times = 0; times < 3; times += 1) await first.changed(minute)
  assert.equal(first.calls.length, 1)
  first.state.writes = true
  await first.changed(minute)
  assert.deepEqual(stored[0]?.alerted, ['webhook'])
  const next = createFixture({ webhook }, stored)
  await next.changed(minute)
  assert.deepEqual([first.calls.length, next.calls.length], [1, 0])
})
