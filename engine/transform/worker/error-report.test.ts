import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutLine, isInnerFrame, reportError } from './error-report.ts'

test('an error is described in one line of bounded length, with its stack', () => {
  const error = new RangeError('first\n\u001b[31msecond\u2028third')
  const reports = reportError(error)
  assert.equal(reports.text, 'RangeError: first [31msecond third')
  assert.equal(reports.stack, error.stack)
  assert.equal(reportError(new Error('x'.repeat(1_000))).text.length, 301)
})

test('the place is the first frame of the author, or of a package where there is no other', () => {
  const error = new Error('x')
  const placeIn = (...frames: string[]) => {
    error.stack = ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n')
    return reportError(error).place
  }
  const ofPackage = 'call (/a/node_modules/b/c.js:3:4)'
  const place = placeIn('call (node:internal/x:1:2)', ofPackage, 'call (file:///a%20(b)/d.ts:5:6)')
  assert.deepEqual(place, { file: '/a (b)/d.ts', line: 5, column: 6, text: '' })
  assert.equal(placeIn(ofPackage)?.line, 3)
  assert.equal(placeIn('async file:///a/b.ts:7:8', '/a/c.ts:9:1')?.line, 7)
  assert.equal(placeIn('<anonymous>', 'new Promise (<anonymous>)'), undefined)
})

test('the frames that called the author’s code are removed from a stack', () => {
  const error = new Error('x')
  const own = `${import.meta.dirname}/transform-worker.ts:65:68`
  const author = '    at review (/a/review.ts:3:4)'
  const inner = [
    `    at <anonymous> (${own})`,
    '    at AsyncLocalStorage.run (node:internal/async_hooks:6:1)',
  ]
  error.stack = ['Error: x', author, ...inner].join('\n')
  assert.equal(reportError(error).stack, `Error: x\n${author}`)
  const dispatch = '    at [nodejs.internal.kHybridDispatch] (node:internal/event_target:848:20)'
  for (const line of [...inner, dispatch, '    at async node:internal/process/task_queues:1:2'])
    assert.ok(isInnerFrame(line), line)
  for (const line of [author, '    at call (node:fs:1:2)', 'at 12:30', '    at the door'])
    assert.ok(!isInnerFrame(line), line)
})

test('any thrown value is described', () => {
  const broken = Object.defineProperty(new Error('x'), 'message', { get: () => assert.fail('no') })
  const thrown: readonly (readonly [unknown, string])[] = [
    ['a\ntext', 'threw a text, no Error: a text'],
    [undefined, 'threw undefined'],
    [null, 'threw null'],
    [5, 'threw a number, no Error'],
    [Symbol('x'), 'threw a symbol, no Error'],
    [{ message: 'm' }, 'threw an object, no Error: m'],
    [['x'], 'threw a list, no Error'],
    [broken, 'Error:'],
    [Object.assign(new Error('m'), { name: 5 }), 'Error: m'],
  ]
  for (const [value, text] of thrown) assert.equal(reportError(value).text, text)
})

test('a very long line is cut to the part around the column', () => {
  assert.deepEqual(cutLine('short', 3), { text: 'short' })
  const line = `${'a'.repeat(1_000)}X${'b'.repeat(1_000)}`
  const { text, caret } = cutLine(line, 1_001)
  assert.equal(text[(caret ?? 0) - 1], 'X')
  assert.ok(text.length <= 400)
})
