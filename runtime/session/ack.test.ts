import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAckOnly } from './ack.ts'

for (const reply of [
  'HEARTBEAT_OK',
  '  HEARTBEAT_OK\n',
  '**HEARTBEAT_OK**',
  '`HEARTBEAT_OK`',
  '```\nHEARTBEAT_OK\n```',
  '"HEARTBEAT_OK."',
  '<b>HEARTBEAT_OK</b>',
  'HEARTBEAT_OK ✅️',
  '> _HEARTBEAT_OK_ …',
]) {
  test(`${JSON.stringify(reply)} is only the acknowledgement`, () => {
    assert.equal(isAckOnly(reply, 'HEARTBEAT_OK'), true)
  })
}

for (const reply of [
  '',
  'HEARTBEAT',
  'HEARTBEAT_OK, but the disk is full',
  'All quiet: HEARTBEAT_OK',
  'HEARTBEAT_OK HEARTBEAT_OK',
  'NOT_HEARTBEAT_OK',
  'HEARTBEAT_OK1',
  `HEARTBEAT_OK${'.'.repeat(201)}`,
]) {
  test(`${JSON.stringify(reply.slice(0, 40))} says something`, () => {
    assert.equal(isAckOnly(reply, 'HEARTBEAT_OK'), false)
  })
}

test('a token made of punctuation is taken literally', () => {
  assert.equal(isAckOnly('*.*', '.*'), true)
  assert.equal(isAckOnly('abc', '.*'), false)
})

test('an empty token acknowledges nothing', () => {
  assert.equal(isAckOnly('', ''), false)
})
