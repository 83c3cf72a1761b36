import assert from 'node:assert/strict'
import test from 'node:test'
import * as secrets from './secret.ts'

const { addressSecretsOf, continuesSecret, isSecretKey, maskLine, maskText, querySecretsOf, secretsIn } =
  secrets

test('keys that hold secrets are recognised, also misspelt ones', () => {
  // A user who confuses the two keys writes a secret under `publicKey`.
  const secret = 'token botToken secret apiKey api_key password tokn secert verifyToken publicKey auth pwd'
  const open = 'to text port ackToken allowQueryToken sessionKey host'
  for (const key of `${secret} ${open}`.split(' '))
    assert.equal(isSecretKey(key), secret.split(' ').includes(key), key)
})

test('a reference stays readable, and the default in it does not', () => {
  const texts = ['hunter2', '"${TOKEN}"', '"${TOKEN:-hunter2}"', '${TOKEN}hunter2']
  assert.deepEqual(texts.map(maskText), ['…', '"${TOKEN}"', '"${TOKEN:-…}"', '…'])
})

test('the caret still points at the same text', () => {
  const line = 'auth: { token: hunter2, tokn: x }'
  const span = { start: line.indexOf('hunter2'), end: line.indexOf(',') }
  const column = line.indexOf('tokn') + 1
  const { text, caret } = maskLine(line, [span], column)
  assert.equal(text, 'auth: { token: …, tokn: x }')
  assert.equal(text.slice(caret - 1, caret + 3), 'tokn')
  assert.equal(maskLine(line, [span], span.start + 4).caret, span.start + 1)
})

test('in text that could not be parsed, everything after a key for secrets is hidden', () => {
  const line = '  botToken: "hunter2'
  assert.equal(maskLine(line, secrets.secretSpansOf(line), 1).text, '  botToken: …')
  assert.deepEqual(secrets.secretSpansOf('  message: token: hunter2 is shown to nobody').length, 1)
  assert.deepEqual(secrets.secretSpansOf('  message: hello'), [])
})

test('a password inside an address is hidden anywhere', () => {
  const line = 'store: postgres://user:hunter2@db/reveille'
  assert.equal(maskLine(line, addressSecretsOf(line), 1).text, 'store: postgres://…@db/reveille')
})

test('the value of a secret in the query of an address is hidden, and a reference to it is not', () => {
  const line = 'publicUrl: "https://h.example/hooks?key=abc&note=x&token=${TOKEN}&apiKey=def"'
  const shown = 'publicUrl: "https://h.example/hooks?key=…&note=x&token=${TOKEN}&apiKey=…"'
  assert.equal(maskLine(line, querySecretsOf(line), 1).text, shown)
  assert.deepEqual(secretsIn({ publicUrl: 'https://h.example/?key=0123456789&page=1' }), ['0123456789'])
})

test('a line of broken text that continues a secret, or lost its colon, is recognised', () => {
  assert.ok(continuesSecret('slack:\n  privateKey: |\n    BEGIN\n', '  hunter2'))
  assert.ok(continuesSecret('hooks:\n', '  token hunter2'))
  assert.ok(!continuesSecret('  token: hunter2\n', '  enabled: tru'))
  assert.ok(!continuesSecret('  message: |\n', '  Look at it'))
})
