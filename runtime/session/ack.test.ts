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
  '***HEARTBEAT_OK***',
  '**_`HEARTBEAT_OK`_**',
  '# HEARTBEAT_OK',
  '### **HEARTBEAT_OK**\n\n---',
  '> > **HEARTBEAT_OK**',
  '- HEARTBEAT_OK',
  '- [x] HEARTBEAT_OK',
  '> 1. HEARTBEAT_OK',
  '```text\nHEARTBEAT_OK\n```',
  '> ~~~plain\n> HEARTBEAT_OK\n> ~~~',
  '````md\n```\n**HEARTBEAT_OK**\n```\n````',
  '<p><strong>HEARTBEAT_OK</strong></p>',
  '<br/>HEARTBEAT_OK<br>',
  '<div class="a b" id=c><code>HEARTBEAT_OK</code></div>',
  '<a href="https://ok.example/?a=1>2">HEARTBEAT_OK</a>',
  '<!-- nothing to do -->\nHEARTBEAT_OK',
  '&nbsp;&quot;HEARTBEAT_OK&quot;',
  '[HEARTBEAT_OK](https://ok.example)',
  '| HEARTBEAT_OK |',
  'HEARTBEAT\\_OK',
  '“HEARTBEAT_OK”',
  '「HEARTBEAT_OK」',
  'HEARTBEAT_OK?!',
  '👍🏽 HEARTBEAT_OK 👨‍👩‍👧 🇩🇪',
  '1️⃣ HEARTBEAT_OK',
  '\u200bHEARTBEAT_OK\ufeff',
  'HEART\u200bBEAT_OK',
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
  'HEARTBEAT_OK 5',
  'HEARTBEAT_OK\n\nThe disk is full.',
  '```text\nHEARTBEAT_OK\n```\nThe disk is full.',
  '# The disk\nHEARTBEAT_OK',
  '<the disk is full> HEARTBEAT_OK',
  '<b>The disk is full</b> HEARTBEAT_OK',
  '[HEARTBEAT_OK](https://ok.example) and more',
  '{"status":"HEARTBEAT_OK"}',
  'HEARTBEAT OK',
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

test('a token that looks like markup is found all the same', () => {
  assert.equal(isAckOnly('**<ok>**', '<ok>'), true)
  assert.equal(isAckOnly('<!-- ok -->', '<!-- ok -->'), true)
})

test('a reply that is made to be read slowly is read at once', () => {
  const started = performance.now()
  for (const piece of ['<a b="', '<a b=c ', '&nbsp', '[](', '> > ', '<!--', '\\', '``` a']) {
    isAckOnly(`${piece.repeat(Math.floor(200 / piece.length))}HEARTBEAT_OK`, 'HEARTBEAT_OK')
  }
  assert.ok(performance.now() - started < 1000)
})

test('an empty token acknowledges nothing', () => {
  assert.equal(isAckOnly('', ''), false)
})
