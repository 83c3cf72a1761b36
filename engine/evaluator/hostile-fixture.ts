/** Tests that no expression over a hostile body holds the main loop. The short test and the long one share this code. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestOf } from '../compile/fixture.ts'
import { watchEventLoop } from '../resolve/event-loop-fixture.ts'
import { containedOf, evaluatorsOf } from './fixture.ts'
import { hostileBodies } from './hostile-cases.ts'

/** The allowed outcomes of an expression: a value is rendered, or the request is refused with one of these codes. */
const expected: ReadonlySet<string> = new Set([
  'EXPRESSION_FAILED',
  'BLANK_TEXT',
  'INVALID_FIELD',
  'TOO_LARGE_RENDERED',
])

/**
 * `bytes` is the size of the bodies, and `maxMs` how long an expression may hold the main loop. Every expression at a
 * multiple of `stride` is evaluated.
 */
export function testHostile(bytes: number, maxMs: number, stride = 1): void {
  test(`no expression over a hostile body of ${bytes} bytes holds the main loop for ${maxMs} ms`, async (context) => {
    const evaluators = evaluatorsOf(context)
    const worst = { longest: 0, source: '' }
    const faults: string[] = []
    let number = 0
    for (const make of hostileBodies(bytes)) {
      const { name, payload, sources } = make()
      const rawBody = Buffer.from(JSON.stringify(payload))
      for (const source of sources) {
        if (number++ % stride !== 0) continue
        const snapshot = await containedOf(evaluators, [{ message: `{% ${source} %}` }])
        const request = { ...requestOf(payload), rawBody, ...(bytes > 262_144 && { isUndecoded: true }) }
        globalThis.gc?.()
        const { result, longest } = await watchEventLoop(() => snapshot.resolve(request))
        if (longest > worst.longest) Object.assign(worst, { longest, source: `${source} over ${name}` })
        if (longest > maxMs) faults.push(`${source} over ${name}: ${longest.toFixed(1)} ms`)
        if ('code' in result && !expected.has(result.code))
          faults.push(`${source} over ${name}: ${result.code}`)
      }
    }
    context.diagnostic(
      `${Math.ceil(number / stride)} expressions, the longest ${worst.longest.toFixed(1)} ms: ${worst.source}`,
    )
    assert.ok(number > 200)
    assert.deepEqual(faults, [])
  })
}
