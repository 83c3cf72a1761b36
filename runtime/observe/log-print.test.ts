import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createLog } from './log.ts'

const start = Date.parse('2026-01-02T03:04:05.678Z')

/** Logs the same to the gateway's log and to a plain pino, at a time that stands still. */
function openBoth() {
  const [ours, plain] = [[] as string[], [] as string[]]
  const { log } = createLog({ level: 'info', format: 'json', stream: { write: (line) => ours.push(line) } })
  const timestamp = () => `,"time":"${new Date().toISOString()}"`
  const reference = pino({ level: 'info', base: null, timestamp }, { write: (line) => plain.push(line) })
  return {
    both(write: (log: Pick<typeof reference, 'info' | 'warn' | 'child'>) => void) {
      for (const lines of [ours, plain]) lines.length = 0
      write(log)
      write(reference)
      assert.deepEqual(ours, plain.map(escapeControls))
      return ours
    },
  }
}

/** What the gateway's log escapes beyond pino. */
function escapeControls(line: string): string {
  return line.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

class Kind {
  own = 1
  #hidden = 2
  get sum() {
    return this.own + this.#hidden
  }
}

const circular: Record<string, unknown> = { name: 'circular' }
circular['self'] = circular

const texts = [
  ...[
    '',
    'plain',
    '"quoted"',
    'back\\slash',
    'a/b',
    '\\ud800 written out',
    'ü ß',
    '漢字',
    '👍',
    'e\u0301',
    '\ufeff',
  ],
  ...[
    '\0',
    '\b\t\n\f\r',
    '\u001b[2J',
    '\u001f',
    '\u007f',
    '\u0080',
    '\u0085',
    '\u009b31m',
    '\u009f',
    '\u00a0',
  ],
  ...[
    '\u061c',
    '\u200e',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u2069',
    '\u2065',
    '\u206a',
  ],
  ...[
    '\ud800',
    '\udfff',
    '\udc00\ud800',
    'a\ud83d',
    '\ude00b',
    `${'x'.repeat(120)}\ud800`,
    '\uffff',
    '\ufffe',
  ],
  ...[
    'x'.repeat(99),
    'x'.repeat(100),
    'x'.repeat(101),
    '"'.repeat(101),
    '\u009b'.repeat(101),
    'ü'.repeat(300),
  ],
  ...['__proto__', 'constructor', 'toString', 'toJSON', 'err', 'msg', 'level', 'time', '0', '-1', '1e3'],
]
const values: unknown[] = [
  ...texts,
  ...[
    0,
    -0,
    1,
    -1,
    0.1,
    1e21,
    1e-7,
    2 ** 53,
    Number.MAX_VALUE,
    Number.NaN,
    Infinity,
    -Infinity,
    12n,
    true,
    false,
  ],
  ...[null, undefined, Symbol('s'), () => 1, Kind, new Kind(), new Date(start), new Date(Number.NaN), /re/g],
  ...[
    new Error('what'),
    new TypeError('why', { cause: new Error('because') }),
    Object.assign(new Error('x'), { code: 'E' }),
  ],
  ...[
    [],
    {},
    [undefined, () => 1, Number.NaN, '\u009b'],
    { a: undefined },
    { a: { b: { c: ['\u202e', { d: '\ud800' }] } } },
  ],
  ...[
    new Map([[1, 2]]),
    new Set([1]),
    Buffer.from('ab'),
    new Uint8Array(2),
    new URL('http://x/?a=b'),
    circular,
  ],
  ...[{ toJSON: () => 'own' }, { toJSON: () => undefined }, { toJSON: () => ({ a: 1 }) }, { toJSON: 'text' }],
  ...[
    Object.create({ inherited: 1 }),
    Object.assign(Object.create(null), { a: 1 }),
    JSON.parse('{"__proto__":{"a":1}}'),
  ],
  ...[
    Object('boxed'),
    Object(1),
    [[[[]]]],
    { 2: 'b', 1: 'a', z: 0 },
    {
      get computed() {
        return 1
      },
    },
  ],
  ...[{ deep: Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {}) }, new Array(3)],
]

test('a line of facts is what pino prints, whatever the facts hold', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: start })
  const { both } = openBoth()
  for (const value of values) {
    both((log) => log.info({ event: 'x', value }))
    both((log) => log.info({ value, after: 1, undef: undefined }))
    both((log) => log.warn({ event: 'x', err: value }))
    both((log) => log.info({ msg: value }))
    both((log) => log.info({ event: 'x', value }, 'a message'))
    if (typeof value === 'object') both((log) => log.info(value))
  }
  for (const name of texts) both((log) => log.info(JSON.parse(`{${JSON.stringify(name)}:"fact","last":1}`)))
})

test('facts of any shape, and the bindings and serialisers of child logs, are printed as by pino', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: start })
  const { both } = openBoth()
  let seed = 1
  const any = <Item>(items: readonly Item[]): Item => {
    seed = (seed * 48_271) % 2_147_483_647
    return items[seed % items.length] as Item
  }
  const shape = (depth: number): unknown => {
    const kind = any(depth === 0 ? ['value'] : ['value', 'object', 'list'])
    if (kind === 'value') return any(values)
    const items = Array.from({ length: any([0, 1, 2, 5]) }, () => shape(depth - 1))
    return kind === 'list' ? items : Object.fromEntries(items.map((item) => [any(texts), item]))
  }
  for (let round = 0; round < 3000; round++) {
    const facts = Object.fromEntries(Array.from({ length: any([1, 2, 4, 9]) }, () => [any(texts), shape(3)]))
    both((log) => log.info(facts))
    const part = any(['a', '\u009b', 'ü'])
    if (round % 10 === 0) both((log) => log.child({ part }).warn(facts))
  }
  const serializers = { event: (event: unknown) => `<${String(event)}>` }
  const [line] = both((log) => log.child({}, { serializers }).info({ event: 'x', value: 1 }))
  assert.match(line ?? '', /"event":"<x>"/)
})

test('the time of a line moves on with the clock', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: start })
  const { both } = openBoth()
  const timeOf = () => JSON.parse(both((log) => log.info({ event: 'x' }))[0] ?? '').time
  const times = [timeOf(), timeOf()]
  t.mock.timers.tick(1)
  times.push(timeOf())
  t.mock.timers.setTime(start - 60_000)
  times.push(timeOf())
  assert.deepEqual(times, [
    '2026-01-02T03:04:05.678Z',
    '2026-01-02T03:04:05.678Z',
    '2026-01-02T03:04:05.679Z',
    '2026-01-02T03:03:05.678Z',
  ])
})
