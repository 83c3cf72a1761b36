/** Asserts what the errors and results of all plugins have in common. */

import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { isPluginError, outageCodes, type PluginError } from '../plugin-error.ts'

/** Asserts that the promise is rejected with a well-formed PluginError that shows none of the secrets. */
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

/** Asserts that a text is one line with words in it, of at most `maxLength` characters. */
export function assertSentence(text: unknown, what: string, maxLength = 500): void {
  assert.ok(typeof text === 'string', `${what} is a text`)
  assert.notEqual(text.trim(), '', `${what} says something`)
  assert.ok(text.length <= maxLength, `${what} has at most ${maxLength} characters, not ${text.length}`)
  assert.doesNotMatch(text, /[\n\r]/, `${what} is one line`)
}

/** Wraps `visibleText` of a fixture, which is often written for the messages that the vendor stores. */
export function checkedText<Part>(visibleText: (part: Part) => string): (part: Part) => string {
  return (part) => {
    const text = visibleText(part)
    const given = inspect(part, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, 120)
    assert.equal(
      typeof text,
      'string',
      `\`visibleText\` returns the text of a part that \`render\` returned: ${given}`,
    )
    return text
  }
}

/** Asserts that a value survives being stored as JSON and shows none of the secrets. */
export function assertStorable(value: unknown, secrets: readonly string[]): void {
  const text = JSON.stringify(value)
  const defined = Object.entries(value as object).filter(([, each]) => each !== undefined)
  assert.deepEqual(JSON.parse(text), Object.fromEntries(defined), 'it survives being stored as JSON')
  assertNoSecret(text, secrets)
}

/** Asserts that a text shows none of the secrets, neither as they are nor URL-encoded. */
export function assertNoSecret(text: string, secrets: readonly string[]): void {
  for (const [index, secret] of secrets.entries()) {
    const isShown = text.includes(secret) || text.includes(encodeURIComponent(secret))
    assert.ok(!isShown, `secret ${index + 1} is not shown`)
  }
}

/** True if an error tells the host that the service fails for every call and not for this one. */
export function isOutage({ code, retryable, wholeService }: PluginError): boolean {
  return code === 'bad-credential' || wholeService || (retryable && outageCodes.has(code))
}
