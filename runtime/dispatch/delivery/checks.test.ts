/** Tests of the checks of channels. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type Channel, type ChannelHealth, PluginError } from '@reveille/kit'
import { createLog, createManualTimers, type LogLine } from '../test-bed.ts'
import { createChannelChecks } from './checks.ts'

/** Opens a test bed whose channel `wall` has this `check`. */
function open(check: (signal: AbortSignal) => Promise<ChannelHealth>) {
  const clock = createManualTimers(Date.UTC(2026, 0, 1))
  const lines: LogLine[] = []
  const channel = { check } as Channel
  const checks = createChannelChecks({
    channel: () => channel,
    log: createLog(lines, () => {}),
    now: clock.now,
    timers: clock.timers,
  })
  return { clock, lines, checks }
}

test('a check that throws or hangs gives a reason', async () => {
  const refused = new PluginError('the wall said no', { code: 'bad-credential', retryable: true })
  const hangs = () => new Promise<never>(() => {})
  const ends: [check: () => Promise<ChannelHealth>, detail: RegExp][] = [
    [() => Promise.reject(refused), /^the wall said no$/],
    [() => Promise.reject(new TypeError('private')), /an error of its own/],
    [hangs, /did not answer within 30 s/],
  ]
  for (const [check, detail] of ends) {
    const { clock, lines, checks } = open(check)
    checks.check(['wall'])
    if (check === hangs) clock.advance(31_000)
    await yieldToEventLoop()
    const health = checks.healthOf('wall')
    assert.equal(health?.ok, false)
    assert.match(health.detail ?? '', detail)
    assert.equal(lines[0]?.event, 'channel-check-failed')
    assert.doesNotMatch(JSON.stringify(lines), /private/)
    await checks.close()
  }
})

test('a message that was sent proves a failed check outdated', async () => {
  const { checks } = open(async () => ({ ok: false, detail: 'no answer' }))
  checks.check(['wall'])
  await yieldToEventLoop()
  assert.equal(checks.healthOf('wall')?.detail, 'no answer')
  checks.sent('wall')
  assert.equal(checks.healthOf('wall'), undefined)
})

test('the late answer of an earlier check of a channel is ignored', async () => {
  const answers: ((health: ChannelHealth) => void)[] = []
  const { lines, checks } = open(() => new Promise((resolve) => answers.push(resolve)))
  checks.check(['wall'])
  checks.check(['wall'])
  assert.equal(checks.healthOf('wall'), undefined)
  answers[1]?.({ ok: true, detail: 'new' })
  await yieldToEventLoop()
  answers[0]?.({ ok: false, detail: 'old' })
  await yieldToEventLoop()
  assert.equal(checks.healthOf('wall')?.detail, 'new')
  assert.deepEqual([lines.length, lines[0]?.event], [1, 'channel-checked'])
})
