/** Owns what errors and answers of a plugin have in common, whatever the plugin is. */

import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { isPluginError, type PluginError } from '../plugin-error.ts'

/** The promise is rejected, with a well-formed PluginError that shows none of the secrets. */
export async function assertPluginError(
  promise: Promise<unknown>,
  secrets: readonly string[],
): Promise<PluginError> {
  const error = await promise.then(
    () => assert.fail('the call throws'),
    (reason: unknown) => reason,
  )
  assert.ok(isPluginError(error), `what is thrown is a PluginError, not ${inspect(error, { depth: 0 })}`)
  assert.match(error.code, /^[a-z]+(-[a-z]+)*$/, 'the code is kebab-case')
  assert.equal(typeof error.retryable, 'boolean')
  assert.notEqual(error.message.trim(), '', 'the message says something')
  assertNoSecret(inspect(error, { depth: 10 }), secrets)
  return error
}

/** One line that says something: what people read beside a record. `most` is in characters. */
export function assertSentence(text: unknown, what: string, most = 500): void {
  assert.ok(typeof text === 'string', `${what} is a text`)
  assert.notEqual(text.trim(), '', `${what} says something`)
  assert.ok(text.length <= most, `${what} has at most ${most} characters, not ${text.length}`)
  assert.doesNotMatch(text, /[\n\r]/, `${what} is one line`)
}

/** What the host keeps comes back from the store as it was, and shows none of the secrets. */
export function assertStorable(value: unknown, secrets: readonly string[]): void {
  const text = JSON.stringify(value)
  const defined = Object.entries(value as object).filter(([, each]) => each !== undefined)
  assert.deepEqual(JSON.parse(text), Object.fromEntries(defined), 'it survives being stored as JSON')
  assertNoSecret(text, secrets)
}

/** Neither as they are, nor as they stand in an address. */
export function assertNoSecret(text: string, secrets: readonly string[]): void {
  for (const [index, secret] of secrets.entries()) {
    const isShown = text.includes(secret) || text.includes(encodeURIComponent(secret))
    assert.ok(!isShown, `secret ${index + 1} is not shown`)
  }
}
