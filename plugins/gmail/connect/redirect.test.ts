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

test('an address or a code is found in a paste, however it is dressed', () => {
  const code = '4/0AbCdEfGhIjKl'
  const url = `http://127.0.0.1:4711/?state=state&code=${encodeURIComponent(code)}&scope=x`
  for (const text of [
    url,
    `  "${url}"  `,
    `<${url.slice(0, 40)}\n${url.slice(40)}>`,
    code,
    `'${encodeURIComponent(code)}' `,
    `code=${code}&scope=x`,
    url.replace(/^[^?]*/, ''),
    // The verifier protects a code without a state too.
    `127.0.0.1:4711/?code=${code}#`,
  ])
    assert.deepEqual(readPasted(text, 'state'), { code }, text)
})

test('the page escapes HTML in its texts', () => {
  assert.doesNotMatch(renderPage({ title: '<b>', text: '"&\'<script>' }), /<b>|<script>/)
})
