import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStandardError } from './standard-error.ts'

/** A stream that can be stuck, in front of the same target as a file. */
function openTarget(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  // Flushing at the end of this process is not for a target of a test.
  t.mock.method(process, 'prependOnceListener', () => process)
  let written = ''
  let stuck = ''
  const stream = {
    columns: 80,
    isStuck: false,
    get writableLength() {
      return stuck.length
    },
    write(text: string) {
      if (stream.isStuck) stuck += text
      else written += text
      return !stream.isStuck
    },
    release() {
      stream.isStuck = false
      written += stuck
      stuck = ''
    },
  }
  const file = {
    write(block: string) {
      written += block
    },
    flushSync() {},
  }
  return { stream, output: createStandardError({ stream, file }), written: () => written }
}

test('lines wait for each other a moment, texts for nothing but the lines before them', (t) => {
  const { output, written } = openTarget(t)
  output.gather('a\n')
  output.gather('b\n')
  assert.equal(written(), '')
  t.mock.timers.tick(100)
  assert.equal(written(), 'a\nb\n')
  output.gather('c\n')
  output.write('D\n')
  assert.equal(written(), 'a\nb\nc\nD\n')
  t.mock.timers.tick(100)
  output.gather('e\n')
  output.flush()
  assert.equal(written(), 'a\nb\nc\nD\ne\n')
})

test('no line stands in the middle of a text that is still on its way', (t) => {
  const { stream, output, written } = openTarget(t)
  stream.isStuck = true
  output.write('A\n')
  output.gather('b\n')
  t.mock.timers.tick(100)
  output.write('C\n')
  output.gather('d\n')
  output.flush()
  assert.equal(written(), '')
  stream.release()
  assert.equal(written(), 'A\nb\nC\nd\n')
  output.gather('e\n')
  output.flush()
  assert.equal(written(), 'A\nb\nC\nd\ne\n')
})
