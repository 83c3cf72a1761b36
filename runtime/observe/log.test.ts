import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { createLog, type LogOptions } from './log.ts'

function createStream(terminal?: { isTTY: boolean }) {
  const stream = {
    ...terminal,
    text: '',
    write(part: string) {
      stream.text += part
    },
  }
  return stream
}

function lines(text: string): Record<string, unknown>[] {
  assert.ok(text === '' || text.endsWith('\n'))
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

test('off a terminal each record is one line of JSON, whatever it holds', () => {
  const stream = createStream()
  const { log } = createLog({ level: 'info', stream })
  log.info({ event: 'run-succeeded', sessionKey: 'a\n\u001b[2J"' }, 'two\nlines')
  log.error({ event: 'task-faulted', err: new Error('what\nfailed') })
  const [first, second] = lines(stream.text)
  const { time, ...rest } = first ?? {}
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, {
    level: 30,
    event: 'run-succeeded',
    sessionKey: 'a\n\u001b[2J"',
    msg: 'two\nlines',
  })
  const err = second?.['err'] as Record<string, unknown>
  assert.deepEqual([err['type'], err['message']], ['Error', 'what\nfailed'])
  assert.equal(lines(stream.text).length, 2)
})

test('characters that could steer a terminal are escaped in a line of JSON', () => {
  const stream = createStream()
  const { log } = createLog({ level: 'info', stream })
  const endpoint =
    '\u007f\u0080\u009b31m\u009f \u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069 é 漢 👍'
  log.info({ event: 'x', endpoint })
  assert.match(
    stream.text,
    /\\u007f\\u0080\\u009b31m\\u009f \\u061c\\u200e\\u200f\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069 é 漢 👍/,
  )
  assert.equal(lines(stream.text)[0]?.['endpoint'], endpoint, 'it is read as what it was')
})

test('a terminal gets pretty lines, and a configured format wins', () => {
  const formats: [LogOptions['format'], boolean, boolean][] = [
    [undefined, true, true],
    [undefined, false, false],
    ['json', true, false],
    ['pretty', false, true],
  ]
  for (const [format, isTTY, isPretty] of formats) {
    const stream = createStream({ isTTY })
    createLog({ level: 'info', stream, ...(format && { format }) }).log.info({ event: 'run-interrupted' })
    assert.equal(stream.text.startsWith('{'), !isPretty, `${format} ${isTTY}`)
    // A file in the pretty format gets no colour.
    assert.equal(stream.text.includes('\u001b'), isPretty && isTTY && !process.env['NO_COLOR'])
  }
})

test('NO_COLOR removes the colours and nothing else', (t) => {
  const before = process.env['NO_COLOR']
  t.after(() => {
    if (before === undefined) delete process.env['NO_COLOR']
    else process.env['NO_COLOR'] = before
  })
  const textWith = (value: string) => {
    process.env['NO_COLOR'] = value
    const stream = createStream({ isTTY: true })
    createLog({ level: 'info', stream }).log.info({ event: 'x' })
    return stream.text
  }
  assert.ok(textWith('').includes('\u001b'))
  assert.match(textWith('1'), /^\d\d:\d\d:\d\d {2}info {8}x\n$/)
})

for (const format of ['json', 'pretty'] as const) {
  test(`the level of ${format} lines can change at run time`, () => {
    const stream = createStream()
    const { log, configure } = createLog({ level: 'warn', format, stream })
    log.info({ event: 'not-yet' })
    configure({ level: 'debug', format })
    log.debug({ event: 'now' })
    configure({ level: 'silent', format })
    log.error({ event: 'no-more' })
    assert.match(stream.text, /now/)
    assert.doesNotMatch(stream.text, /not-yet|no-more/)
  })
}

test('the format can change at run time, and back to the default of the target', () => {
  for (const [isTTY, shapes] of [
    [false, ['json', 'pretty', 'json', 'json']],
    [true, ['pretty', 'pretty', 'json', 'pretty']],
  ] as const) {
    const stream = createStream({ isTTY })
    const { log, configure } = createLog({ level: 'info', stream })
    const child = log.child({ part: 'child' })
    for (const format of [undefined, 'pretty', 'json', undefined] as const) {
      configure({ level: 'info', ...(format && { format }) })
      child.info({ event: 'logged' })
    }
    const seen = stream.text.trimEnd().split('\n')
    assert.deepEqual(
      seen.map((line) => (line.startsWith('{') ? 'json' : 'pretty')),
      shapes,
    )
  }
})

test('a format that changes all the time loses, tears and overtakes no line of standard error', async () => {
  const { err } = await outputOf(`
    for (let number = 500; number < 3000; number++) {
      if (number % 7 === 0) configure({ level: 'info', format: number % 2 ? 'pretty' : 'json' })
      log.info({ event: 'counted', number })
    }`)
  const numbers = err
    .trimEnd()
    .split('\n')
    .map((line) => /^(?:\{.*"number":(\d+)\}|\d\d:\d\d:\d\d {2}info {8}counted {2}number=(\d+))$/.exec(line))
    .map((found) => Number(found?.[1] ?? found?.[2]))
  assert.deepEqual(
    numbers,
    Array.from({ length: 3000 }, (_, number) => number),
  )
})

/** The output of a process until it ended. */
async function outputOf(program: string): Promise<{ code: unknown; out: string; err: string }> {
  const source = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    const { log, configure, flush } = createLog({ level: 'info' })
    for (let number = 0; number < 500; number++) log.info({ event: 'counted', number })
    ${program}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}

const ends = {
  'by itself': ['', 0],
  'after a flush and an exit': ['await flush(); process.exit(3)', 3],
  'by an exit alone': ['process.exit(4)', 4],
  'by an error that nobody caught': ['throw new Error("uncaught")', 1],
} as const

for (const [end, [program, expected]] of Object.entries(ends)) {
  test(`no line is lost when the process ends ${end}, and none goes to standard output`, async () => {
    const { code, out, err } = await outputOf(program)
    assert.equal(code, expected)
    assert.equal(out, '')
    const numbers = err
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line).number)
    assert.deepEqual(
      numbers,
      Array.from({ length: 500 }, (_, number) => number),
    )
  })
}
