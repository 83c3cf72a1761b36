import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStandardError } from './standard-error.ts'

/** A target that accepts its input when the test says so. */
function openTarget(t: TestContext, options: { readonly maxQueued?: number } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  // Events at the end of this process are not for a target of a test.
  let end = () => {}
  t.mock.method(process, 'prependOnceListener', (_event: string, listener: () => void) => {
    end = listener
    return process
  })
  let written = ''
  let underWay:
    | { readonly bytes: Buffer; readonly done: (error: Error | null, written: number) => void }
    | undefined
  const target = {
    columns: 80,
    write(bytes: Buffer, done: (error: Error | null, written: number) => void) {
      assert.equal(underWay, undefined, 'one write is under way at a time')
      underWay = { bytes, done }
    },
    writeNow(bytes: Buffer) {
      written += bytes
    },
  }
  const reported: number[] = []
  const output = createStandardError({
    target,
    onRoom(lines) {
      reported.push(lines)
      output.gather(`(${lines} dropped)\n`)
    },
    ...options,
  })
  /** The write that is under way ends, with all bytes written or with so many and an error. */
  function settle(error: Error | null = null, count = underWay?.bytes.length ?? 0) {
    const { bytes, done } = underWay ?? assert.fail('no write is under way')
    underWay = undefined
    written += bytes.subarray(0, count)
    done(error, count)
  }
  return {
    output,
    settle,
    reported,
    end: () => end(),
    written: () => written,
    isWriting: () => underWay !== undefined,
  }
}

test('lines gather for a moment, and a text waits only for the lines before it', (t) => {
  const { output, settle, written, isWriting } = openTarget(t)
  output.gather('a\n')
  output.gather('b\n')
  assert.equal(isWriting(), false)
  t.mock.timers.tick(100)
  settle()
  assert.equal(written(), 'a\nb\n')
  output.gather('c\n')
  output.write('D\n')
  settle()
  assert.equal(written(), 'a\nb\nc\nD\n')
})

test('lines that come during a write are written with the next one, in order', (t) => {
  const { output, settle, written } = openTarget(t)
  output.write('A\n')
  output.gather('b\n')
  output.write('C\n')
  assert.equal(written(), '')
  settle()
  settle()
  assert.equal(written(), 'A\nb\nC\n')
})

test('lines that do not fit are dropped, and one line says how many once half of the queue is free', (t) => {
  const { output, settle, reported, written } = openTarget(t, { maxQueued: 20 })
  output.write('first\n')
  for (let number = 0; number < 9; number++) output.write(`${number}...\n`)
  assert.equal(output.dropped(), 5)
  assert.deepEqual(reported, [])
  settle()
  settle()
  settle()
  output.write('last\n')
  settle()
  assert.deepEqual(reported, [5])
  assert.equal(written(), 'first\n0...\n1...\n2...\n3...\n(5 dropped)\nlast\n')
  assert.equal(output.dropped(), 5, 'the count goes on for as long as the process lives')
})

test('a write that is refused is tried again a second later, from the byte where it stopped', (t) => {
  const { output, settle, written, isWriting } = openTarget(t)
  output.write('one\n')
  settle(new Error('ENOSPC'), 2)
  output.write('two\n')
  assert.equal(isWriting(), false)
  t.mock.timers.tick(1000)
  settle()
  settle()
  assert.equal(written(), 'one\ntwo\n')
})

test('a flush ends with the last line, with a refusal, or after a second', async (t) => {
  const { output, settle, written, end } = openTarget(t)
  output.gather('a\n')
  const whole = output.flush()
  settle()
  await whole
  assert.equal(written(), 'a\n')

  output.gather('b\n')
  const refused = output.flush()
  settle(new Error('ENOSPC'), 0)
  await refused

  const stalled = output.flush()
  t.mock.timers.tick(1000)
  await stalled
  output.gather('c\n')
  end()
  assert.equal(
    written(),
    'a\nc\n',
    'what is under way is the target’s, and the rest is given to it at the end',
  )
})

test('a target that never takes a write costs one second at the end, and no crash', async (t) => {
  const { output, reported, end, written } = openTarget(t, { maxQueued: 20 })
  for (let number = 0; number < 9; number++) output.write(`${number}...\n`)
  const flushed = output.flush()
  t.mock.timers.tick(1000)
  await flushed
  end()
  assert.deepEqual(reported, [4])
  assert.equal(written(), '1...\n2...\n3...\n4...\n(4 dropped)\n')
})
