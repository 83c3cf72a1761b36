import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileRedaction, isPluginError, PluginError } from '@reveille/kit'
import { redactError, redactReceipt } from './redaction.ts'

const redact = compileRedaction(['s3cret/key'])

test('an error without a secret is passed on as it is', () => {
  const error = new TypeError('nothing to hide', { cause: new Error('here neither') })
  assert.equal(redactError(error, redact), error)
})

test('an error that shows a secret anywhere is replaced by one that says the same without it', () => {
  for (const error of [
    new TypeError('key s3cret/key is wrong'),
    new TypeError('key is wrong', { cause: new Error('s3cret/key') }),
    Object.assign(new TypeError('key is wrong'), { config: { headers: { authorization: 's3cret/key' } } }),
  ]) {
    const redacted = redactError(error, redact)
    assert.ok(redacted instanceof Error && redacted !== error)
    assert.equal(redacted.name, 'TypeError')
    assert.match(redacted.message, /^key (\[redacted\] )?is wrong$/)
    assert.doesNotMatch(`${redacted.stack} ${JSON.stringify(redacted)} ${redacted.cause}`, /s3cret/)
  }
  assert.equal((redactError('thrown text s3cret/key', redact) as Error).message, 'thrown text [redacted]')
})

test('a redacted PluginError still says whether a retry can help', () => {
  const error = new PluginError('The service said s3cret/key.', {
    code: 'rate-limited',
    retryable: true,
    retryAfter: 7,
    maybeDelivered: true,
    cause: new Error('s3cret/key'),
  })
  const redacted = redactError(error, redact)
  assert.ok(isPluginError(redacted))
  const { message, code, retryable, retryAfter, maybeDelivered, cause } = redacted
  assert.deepEqual(
    { message, code, retryable, retryAfter, maybeDelivered, cause },
    {
      message: 'The service said [redacted].',
      code: 'rate-limited',
      retryable: true,
      retryAfter: 7,
      maybeDelivered: true,
      cause: undefined,
    },
  )
})

test('a receipt shows no secret, whatever the service calls its messages', () => {
  const receipt = {
    id: 'm1 for s3cret/key',
    at: '2026-01-01T00:00:00.000Z',
    partial: [{ target: 's3cret/key', reason: 'gone' }],
  }
  assert.deepEqual(redactReceipt(receipt, redact), {
    id: 'm1 for [redacted]',
    at: '2026-01-01T00:00:00.000Z',
    partial: [{ target: '[redacted]', reason: 'gone' }],
  })
  const round: Record<string, unknown> = { id: 'a' }
  round['itself'] = round
  assert.equal(redactReceipt(round as never, redact).id, 'a')
  assert.equal(redactReceipt(undefined as never, redact), undefined)
})
