import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAckOnly, withoutTokens } from './ack.ts'

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
  '```text\nHEARTBEAT_OK\n```',
  '````md\n```\n**HEARTBEAT_OK**\n```\n````',
  '<p><strong>HEARTBEAT_OK</strong></p>',
  '<br/>HEARTBEAT_OK<br>',
  '<div class="a b" id=c><code>HEARTBEAT_OK</code></div>',
  '<!-- nothing to do -->\nHEARTBEAT_OK',
  '&nbsp;&quot;HEARTBEAT_OK&quot;',
  '| HEARTBEAT_OK |',
  '“HEARTBEAT_OK”',
  '「HEARTBEAT_OK」',
  'HEARTBEAT_OK?!',
  '👍🏽 HEARTBEAT_OK 👨‍👩‍👧 🇩🇪',
  '\u200bHEARTBEAT_OK\ufeff',
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

test('a token that looks like markup is found', () => {
  assert.equal(isAckOnly('**<ok>**', '<ok>'), true)
  assert.equal(isAckOnly('<!-- ok -->', '<!-- ok -->'), true)
})

test('a reply that is made to be read slowly is read at once', () => {
  const started = process.cpuUsage().user / 1000
  for (const piece of ['<a b="', '<a b=c ', '&nbsp', '[](', '> > ', '<!--', '\\', '``` a']) {
    isAckOnly(`${piece.repeat(Math.floor(200 / piece.length))}HEARTBEAT_OK`, 'HEARTBEAT_OK')
  }
  assert.ok(process.cpuUsage().user / 1000 - started < 1000)
})

test('an empty token acknowledges nothing', () => {
  assert.equal(isAckOnly('', ''), false)
})

const whole: Readonly<Record<string, string>> = {
  'All clear. HEARTBEAT_OK': 'All clear.',
  'HEARTBEAT_OK\n\nBuild 7 failed on main.': 'Build 7 failed on main.',
  'HEARTBEAT_OK, but the disk is full': 'but the disk is full',
  '**HEARTBEAT_OK** All is well.': 'All is well.',
  'HEARTBEAT_OK\n\n    code\n- item': '    code\n- item',
  'The disk is full.\n\n`HEARTBEAT_OK`.\n': 'The disk is full.',
  'HEARTBEAT_OK Done. NO_REPLY HEARTBEAT_OK': 'Done.',
  'Sent to the team. NO_REPLY': 'Sent to the team.',
  'NO_REPLY\nSent.': 'Sent.',
  HEARTBEAT_OK: '',
  '**NO_REPLY**': '',
  'NO_REPLY.': '',
  'HEARTBEAT_OK HEARTBEAT_OK': '',
}

for (const [reply, text] of Object.entries(whole)) {
  test(`of ${JSON.stringify(reply)} ${text === '' ? 'nothing' : JSON.stringify(text)} is delivered`, () => {
    assert.equal(withoutTokens(reply, 'HEARTBEAT_OK').trimEnd(), text)
  })
}

for (const reply of [
  'It answers HEARTBEAT_OK when nothing is wrong.',
  'NOT_HEARTBEAT_OK',
  'HEARTBEAT_OK1 is another',
  '{"status":"HEARTBEAT_OK"}',
  '```\nHEARTBEAT_OK\n```\nis what it said.',
  '**HEARTBEAT_OK All is well.**',
  'See docs/HEARTBEAT_OK',
  '  indented\n\n- and a list\n',
]) {
  test(`${JSON.stringify(reply)} is delivered as it is`, () => {
    assert.equal(withoutTokens(reply, 'HEARTBEAT_OK'), reply)
  })
}

test('a token that is an ordinary word is not removed from a reply', () => {
  assert.equal(withoutTokens('OK, done. All is OK', 'OK'), 'OK, done. All is OK')
  assert.equal(withoutTokens('OK', 'OK'), '')
})

test('a long reply full of tokens is read at once', () => {
  const started = process.cpuUsage().user / 1000
  for (const piece of ['HEARTBEAT_OK ', 'x HEARTBEAT_OK.', '\n\n ', '****HEARTBEAT_OK']) {
    withoutTokens(`x ${piece.repeat(Math.floor(50_000 / piece.length))}x`, 'HEARTBEAT_OK')
    withoutTokens(piece.repeat(Math.floor(50_000 / piece.length)), 'HEARTBEAT_OK')
  }
  assert.ok(process.cpuUsage().user / 1000 - started < 1000)
})
