import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import { failureOf } from './failure.ts'

test('a plugin error keeps its facts, in milliseconds', () => {
  const error = new PluginError('slow down', { code: 'rate-limited', retryable: true, retryAfter: 1.5 })
  assert.deepEqual(failureOf(error, 'X'), {
    code: 'rate-limited',
    message: 'slow down',
    retryable: true,
    retryAfterMs: 1500,
    maybeDelivered: false,
    wholeService: false,
    reason: 'slow down',
  })
})

test('any other error is permanent, keeps its message, and is not quoted in the log', () => {
  const failure = failureOf(new TypeError('no such thing: the customer wrote x'), 'RUNNER_FAILED')
  assert.deepEqual([failure.code, failure.retryable], ['RUNNER_FAILED', false])
  assert.equal(failure.message, 'no such thing: the customer wrote x')
  assert.doesNotMatch(failure.reason, /customer/)
})

test('a message of any length is bounded', () => {
  assert.equal(failureOf('x'.repeat(100_000), 'X').message.length, 1000)
  assert.equal(failureOf(new Error('x'.repeat(100_000)), 'X').message.length, 1000)
})

test('the message names the line in which the error was thrown', () => {
  const { message } = failureOf(new TypeError('no such thing'), 'X', { place: true })
  assert.match(message, /^no such thing \(\S+failure\.test\.ts:\d+:\d+\)$/)
  const placeless = Object.assign(new Error('from nowhere'), { stack: undefined })
  assert.equal(failureOf(placeless, 'X', { place: true }).message, 'from nowhere')
})

test('an error without a text is described as such', () => {
  assert.equal(failureOf({ message: 'm' }, 'X').message, 'it threw an object that is no error')
  assert.equal(failureOf(Symbol('s'), 'X').message, 'Symbol(s)')
  assert.equal(failureOf('just a text', 'X').message, 'just a text')
})

test('a malformed plugin error keeps only fields of the right type', () => {
  const brand = Symbol.for('reveille.plugin-error')
  const failure = failureOf(
    { [brand]: true, code: 42, retryable: 'yes', retryAfter: 'soon', wholeService: 1, message: 'm' },
    'X',
  )
  assert.deepEqual(failure, {
    code: 'X',
    message: 'm',
    retryable: false,
    maybeDelivered: false,
    wholeService: false,
    reason: 'm',
  })
})
