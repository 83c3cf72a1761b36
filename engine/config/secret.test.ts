import assert from 'node:assert/strict'
import test from 'node:test'
import {
  addressSecretsOf,
  continuesSecret,
  isSecretKey,
  maskLine,
  maskText,
  secretSpansOf,
} from './secret.ts'

test('keys that hold secrets are known, misspelt ones too', () => {
  for (const key of [
    'token',
    'botToken',
    'secret',
    'apiKey',
    'api_key',
    'password',
    'tokn',
    'secert',
    'verifyToken',
    // Whoever mistakes it for the other one writes a secret there.
    'publicKey',
    'auth',
    'pwd',
  ]) {
    assert.ok(isSecretKey(key), key)
  }
  for (const key of ['to', 'text', 'port', 'ackToken', 'allowQueryToken', 'sessionKey', 'host']) {
    assert.ok(!isSecretKey(key), key)
  }
})

test('a reference stays readable, the default in it does not', () => {
  assert.equal(maskText('hunter2'), '…')
  assert.equal(maskText('"${TOKEN}"'), '"${TOKEN}"')
  assert.equal(maskText('"${TOKEN:-hunter2}"'), '"${TOKEN:-…}"')
  assert.equal(maskText('${TOKEN}hunter2'), '…')
})

test('the caret follows what it pointed at', () => {
  const line = 'auth: { token: hunter2, tokn: x }'
  const span = { start: line.indexOf('hunter2'), end: line.indexOf(',') }
  const column = line.indexOf('tokn') + 1
  const { text, caret } = maskLine(line, [span], column)
  assert.equal(text, 'auth: { token: …, tokn: x }')
  assert.equal(text.slice(caret - 1, caret + 3), 'tokn')
  assert.equal(maskLine(line, [span], span.start + 4).caret, span.start + 1)
})

test('text that no parser understood is hidden after a secret key', () => {
  const line = '  botToken: "hunter2'
  assert.equal(maskLine(line, secretSpansOf(line), 1).text, '  botToken: …')
  assert.deepEqual(secretSpansOf('  message: token: hunter2 is shown to nobody').length, 1)
  assert.deepEqual(secretSpansOf('  message: hello'), [])
})

test('a password inside an address is hidden wherever it stands', () => {
  const line = 'store: postgres://user:hunter2@db/reveille'
  assert.equal(maskLine(line, addressSecretsOf(line), 1).text, 'store: postgres://…@db/reveille')
})

test('a line of broken text that goes on with a secret, or lost its colon, is known', () => {
  assert.ok(continuesSecret('slack:\n  privateKey: |\n    BEGIN\n', '  hunter2'))
  assert.ok(continuesSecret('hooks:\n', '  token hunter2'))
  assert.ok(!continuesSecret('  token: hunter2\n', '  enabled: tru'))
  assert.ok(!continuesSecret('  message: |\n', '  Look at it'))
})
