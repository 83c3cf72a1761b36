import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerOf, createServing, failureOf, fieldOf, shownPlace } from './fixture.ts'

/** What a module does, the message behind its name, and the text at the reported place; absent: the function's beginning. */
const misdeeds: Readonly<Record<string, readonly [code: string, message: string, at?: string]>> = {
  throws: [
    'const deep = (value: any) => {\n  return value.missing.field\n}\nreturn deep({})',
    ": TypeError: Cannot read properties of undefined (reading 'field')",
    'field\n',
  ],
  rejects: [
    'return Promise.resolve().then(() => {\n  throw new RangeError("later\\nand more")\n})',
    ': RangeError: later and more',
    'new RangeError("later',
  ],
  'throws a text': ['throw "a text"', ': threw a text, no Error: a text'],
  aborts: ['process.abort()', ': TypeError: process.abort() is not supported in workers', 'abort()'],
  'leaves a rejection': [
    'Promise.reject(new Error("floating"))\nreturn new Promise(() => {})',
    ': Error: floating (an unhandled rejection)',
    'new Error("floating")',
  ],
  'throws in a timer': [
    'setTimeout(() => { throw new Error("in a timer") })\nreturn new Promise(() => {})',
    ': Error: in a timer (an uncaught error)',
    'new Error("in a timer")',
  ],
  'answers a trap': [
    'return new Proxy({}, { ownKeys() { throw new Error("trap") } })',
    ': Error: trap',
    'new Error("trap")',
  ],
  'answers too much': [
    'return { message: "x".repeat(1e6) }',
    ' answered what cannot be used: it is longer than what the action may still render to',
  ],
  'makes too long a text': [
    'return { message: "y".repeat(2 ** 30) }',
    ': RangeError: Invalid string length',
    'repeat(2 ** 30)',
  ],
  'recurses without end': [
    'const again = (n: number): number => again(n + 1) + 1\nagain(0)',
    ': RangeError: Maximum call stack size exceeded',
    'again(n + 1)',
  ],
}

const source = `import * as threads from 'node:worker_threads'
void threads
export default ({ payload }: any): any => {
  if (payload.good) return { message: payload.good }
  ${Object.entries(misdeeds)
    .map(([name, [code]]) => `if (payload.deed === '${name}') {\n${code}\n}`)
    .join('\n  ')}
}`

/** `line:column` of the only place where the text is. */
function placeOf(text: string): string {
  const [before = '', ...rest] = source.split(text)
  assert.equal(rest.length, 1, text)
  const lines = before.split('\n')
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}

test('whatever a transform does fails its own call, with module, reason and line, and no other', async (t) => {
  const { call } = await createServing(t, { 'bad.ts': source })
  for (const [deed, [, message, at = '({ payload }: any)']] of Object.entries(misdeeds)) {
    await t.test(deed, async () => {
      const good = (id: string) => call('bad.ts', { payload: { good: id } })
      const bad = failureOf(call('bad.ts', { payload: { deed } }))
      const answers = Promise.all([good('before'), good('after')])
      const error = await bad
      assert.deepEqual([error.message, error.code], [`bad.ts${message}`, 'TRANSFORM_FAILED'])
      // The column at which a stack overflows is chance.
      const place = deed === 'recurses without end' ? placeOf(at).replace(/:.*/, ':') : `${placeOf(at)} `
      assert.ok(shownPlace(error)?.startsWith(`bad.ts:${place}`), `${shownPlace(error)}, not ${place}`)
      if (at.startsWith('new Error'))
        assert.match((error.cause as Error).stack ?? '', /transforms\/bad\.ts:\d+/)
      const said = [...(await answers), await good('again')].map((answer) => fieldOf(answer))
      assert.deepEqual(said, ['before', 'after', 'again'])
    })
  }
})

test('a module that replaces globals harms no other module', async (t) => {
  const { call } = await createServing(t, {
    'replaces.ts': `
      export default () => {
        const world = globalThis as any
        for (const name of ['Promise', 'Array', 'Buffer', 'Date', 'console', 'performance', 'Atomics']) world[name] = undefined
        JSON.stringify = () => 'no'
        JSON.parse = () => { throw new Error('no') }
        Object.prototype.constructor = undefined as any
        ;(Object.prototype as any).toJSON = () => 'no'
        delete ([] as any).__proto__.map
        delete ([] as any).__proto__[Symbol.iterator]
        return { message: 'as ever', deliverTo: [{ channel: 'slack' }] }
      }`,
    'other.ts': 'export default () => ({ name: "other" })',
  })
  await failureOf(call('replaces.ts', { payload: [1] }))
  assert.deepEqual(await call('other.ts'), answerOf('other', 'name'))
})

test('timers and promises that a call leaves behind do not harm later calls', async (t) => {
  const leaves = `
    export default async ({ payload: { deed, ms } }: any) => {
      if (deed === 'wait') await new Promise((done) => setTimeout(done, ms))
      if (deed === 'throw') setTimeout(() => { throw new Error('left') }, ms)
      if (deed === 'exit') setTimeout(() => process.exit(5), ms)
      return { message: deed }
    }`
  const { call, event } = await createServing(t, { 'leaves.ts': leaves }, { limits: { concurrency: 1 } })
  for (const deed of ['throw', 'exit']) {
    assert.deepEqual(await call('leaves.ts', { requestId: deed, payload: { deed, ms: 10 } }), answerOf(deed))
    assert.deepEqual(await call('leaves.ts', { payload: { deed: 'wait', ms: 100 } }), answerOf('wait'))
    const reports = await event(
      (each) => each.type === 'worker-lost' || (each.type === 'transform-output' && each.requestId === deed),
    )
    if (reports.type === 'worker-lost')
      assert.equal(reports.reason, 'was ended by what an earlier call left behind')
    else if (reports.type === 'transform-output') {
      assert.equal(reports.level, 'error')
      const text = deed === 'throw' ? /^Error: left .*leaves\.ts:4:/ : /process\.exit\(5\).*leaves\.ts:5:/
      assert.match(reports.text, text)
    }
  }
})

test('a call behind leftovers of an earlier one misses its deadline, and the others are answered meanwhile', async (t) => {
  const blocks = `
    /** Runs once the answer is on its way, before any other message arrives. */
    async function blockSoon() {
      for (let turn = 0; turn < 100; turn++) await null
      for (;;) {}
    }
    export default ({ payload }: any) => {
      if (payload.block) void blockSoon()
      return { message: 'well' }
    }`
  const { call } = await createServing(t, { 'blocks.ts': blocks }, { limits: { timeoutMs: 2_000 } })
  assert.deepEqual(await call('blocks.ts', { payload: { block: true } }), answerOf('well'))
  const behind = failureOf(call('blocks.ts', { payload: {} }))
  for (let n = 0; n < 20; n++) assert.deepEqual(await call('blocks.ts', { payload: {} }), answerOf('well'))
  assert.equal((await behind).code, 'TRANSFORM_TIMEOUT')
})
