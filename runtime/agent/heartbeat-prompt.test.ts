import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventRecord } from '../store/port.ts'
import { heartbeatPrompt, maxPromptBytes } from './heartbeat-prompt.ts'

const event = (prompt: string) => ({ prompt, createdAt: Date.UTC(2026, 0, 1) }) as EventRecord
const instruction = 'Do what is due.'

test('a heartbeat shows its events in order and ends with the instruction', () => {
  const { text, shown } = heartbeatPrompt({ events: [event('one'), event('two')], pending: 2, instruction })
  assert.equal(
    text,
    '2 system events:\n\n1. 2026-01-01T00:00:00.000Z\none\n\n2. 2026-01-01T00:00:00.000Z\ntwo\n\nDo what is due.',
  )
  assert.equal(shown.length, 2)
})

test('the number of events that still wait is named', () => {
  const { text } = heartbeatPrompt({ events: [event('one')], pending: 8, instruction })
  assert.match(text, /^1 system event; 7 more waiting for a later heartbeat:\n/)
})

test('an idle heartbeat says that nothing is pending', () => {
  const { text } = heartbeatPrompt({ events: [], pending: 0, instruction })
  assert.equal(text, 'No system events are pending.\n\nDo what is due.')
})

test('a prompt stays within 32 KiB, counted in bytes', () => {
  const events = Array.from({ length: 50 }, () => event('ö'.repeat(700)))
  const { text, shown } = heartbeatPrompt({ events, pending: 5000, instruction })
  assert.ok(Buffer.byteLength(text) <= maxPromptBytes, `${Buffer.byteLength(text)} bytes`)
  assert.ok(Buffer.byteLength(text) > maxPromptBytes - 1600, 'no more is left out than has to be')
  assert.equal(shown.length, 22)
})

test('an event that does not fit is not overtaken by a shorter one', () => {
  const events = [event('a'), event('x'.repeat(maxPromptBytes)), event('b')]
  assert.equal(heartbeatPrompt({ events, pending: 3, instruction }).shown.length, 1)
})

test('at least one event is shown, however long', () => {
  const { shown } = heartbeatPrompt({
    events: [event('x'.repeat(99_999)), event('y')],
    pending: 2,
    instruction,
  })
  assert.equal(shown.length, 1)
})
