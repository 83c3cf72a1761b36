import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderPage } from './loopback.ts'
import { readPasted } from './redirect.ts'

test('hostile pastes give no code, and are read quickly', () => {
  for (const text of [
    '?'.repeat(100_000),
    '"'.repeat(100_000),
    `http://127.0.0.1:1/?code=${'%'.repeat(100_000)}`,
    `${'a'.repeat(100_000)}`,
    'http://127.0.0.1:1/?code=4/0AbCdEfGhIjKl&state=',
    '%E0%A4%A',
    'javascript:alert(1)//code',
  ]) {
    const begun = process.cpuUsage().user / 1000
    assert.ok('mistake' in readPasted(text, 'state'), text.slice(0, 40))
    assert.ok(process.cpuUsage().user / 1000 - begun < 500)
  }
})

test('a pasted address without a state is accepted, because the verifier protects the code too', () => {
  const pasted = readPasted('127.0.0.1:4711/?code=4/0AbCdEfGhIjKl#', 'state')
  assert.deepEqual(pasted, { code: '4/0AbCdEfGhIjKl' })
})

test('the page escapes HTML in its texts', () => {
  assert.doesNotMatch(renderPage({ title: '<b>', text: '"&\'<script>' }), /<b>|<script>/)
})
