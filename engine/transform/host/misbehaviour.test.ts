import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServing, failureOf, shownPlace } from './fixture.ts'

interface Misdeed {
  readonly code: string
  /** Behind the module's name. */
  readonly message: string | RegExp
  /** `line:column text`; absent where the call is answered. */
  readonly at?: string
}

const whole = 'export default'
/** What a transform does when it is told to be bad; otherwise each is good. */
const misdeeds: Readonly<Record<string, Misdeed>> = {
  throws: {
    code: 'const deep = (value: any) => {\n  return value.missing.field\n}\nreturn deep({})',
    message: ": TypeError: Cannot read properties of undefined (reading 'field')",
    at: '6:24 return value.missing.field',
  },
  rejects: {
    code: 'return Promise.resolve().then(() => {\n  throw new RangeError("later\\nand more")\n})',
    message: ': RangeError: later and more',
    at: '6:9 throw new RangeError("later\\nand more")',
  },
  'throws a text': { code: 'throw "a text"', message: ': threw a text, no Error: a text', at: whole },
  exits: {
    code: 'process.exit(3)',
    message: ' ended its worker with process.exit(3)',
    at: '5:9 process.exit(3)',
  },
  aborts: {
    code: 'process.abort()',
    message: ': TypeError: process.abort() is not supported in workers',
    at: '5:9 process.abort()',
  },
  'leaves a rejection': {
    code: 'Promise.reject(new Error("floating"))\nreturn new Promise(() => {})',
    message: ': Error: floating (a promise that nobody awaits)',
    at: '5:16 Promise.reject(new Error("floating"))',
  },
  'throws in a timer': {
    code: 'setTimeout(() => { throw new Error("in a timer") })\nreturn new Promise(() => {})',
    message: ': Error: in a timer (nobody caught it)',
    at: '5:26 setTimeout(() => { throw new Error("in a timer") })',
  },
  'posts rubbish': {
    code: 'threads.parentPort!.postMessage({ type: "answered", call: 1 })',
    message: ' posted to parentPort, which is not for transforms',
    at: '5:21 threads.parentPort!.postMessage({ type: "answered", call: 1 })',
  },
  'posts past the guard': {
    code: 'threads.MessagePort.prototype.postMessage.call(threads.parentPort, "x"); return new Promise(() => {})',
    message: ' lost its worker, which posted to parentPort, which is not for transforms',
    at: whole,
  },
  'answers a function': {
    code: 'return { message: () => 1 }',
    message: ' answered what cannot be used: `message` is a function',
    at: whole,
  },
  'answers a trap': {
    code: 'return new Proxy({}, { ownKeys() { throw new Error("trap") } })',
    message: ': Error: trap',
    at: '5:42 return new Proxy({}, { ownKeys() { throw new Error("trap") } })',
  },
  'answers too much': {
    code: 'return { message: "x".repeat(1e6) }',
    message: ' answered what cannot be used: it is longer than what the action may still render to',
    at: whole,
  },
  'recurses without end': {
    code: 'const again = (n: number): number => again(n + 1) + 1\nagain(0)',
    message: ': RangeError: Maximum call stack size exceeded',
    at: /^5:/.source,
  },
  'asks for a list of a billion': {
    code: 'return { message: "x".repeat(2 ** 30) }',
    message: ': RangeError: Invalid string length',
    at: '5:23 return { message: "x".repeat(2 ** 30) }',
  },
}

const sourceOf = ({ code }: Misdeed) => `import * as threads from 'node:worker_threads'
export default ({ payload }: any): any => {
  if (payload.good) return { message: payload.good }
  void threads
${code}
}`

test('whatever a transform does fails its own call, with module, reason and line, and no other', async (t) => {
  const names = Object.keys(misdeeds)
  const fileOf = (name: string) => `${name.replaceAll(' ', '-')}.ts`
  const { call } = await createServing(
    t,
    Object.fromEntries(Object.entries(misdeeds).map(([name, misdeed]) => [fileOf(name), sourceOf(misdeed)])),
  )
  for (const name of names) {
    await t.test(name, async () => {
      const file = fileOf(name)
      const { message, at = '' } = misdeeds[name] as Misdeed
      const good = (id: string) => call(file, { payload: { good: id } })
      const [before, error, after] = await Promise.all([
        good('before'),
        failureOf(call(file, { payload: {} })),
        good('after'),
      ])
      assert.equal(error.message, `${file}${message}`)
      assert.equal(error.code, 'TRANSFORM_FAILED')
      const shown = shownPlace(error)?.replace(`${file}:`, '') ?? 'nowhere'
      if (at === whole) assert.equal(shown, '2:16 export default ({ payload }: any): any => {')
      else assert.ok(shown.startsWith(at) || new RegExp(at).test(shown), `${shown}, not ${at}`)
      if (message !== '' && String(message).startsWith(': ') && !String(message).startsWith(': threw')) {
        assert.match((error.cause as Error).stack ?? '', new RegExp(`transforms/${file}:\\d+`))
      }
      const said = [before, after, await good('again')].map(
        (answer) => answer.kind === 'one' && answer.action?.['message'],
      )
      assert.deepEqual(said, [{ value: 'before' }, { value: 'after' }, { value: 'again' }])
    })
  }
})

test('a module that replaces what everybody uses harms its own calls at most', async (t) => {
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
  const action = { message: { value: 'as ever' }, deliverTo: { value: [{ channel: 'slack' }] } }
  assert.deepEqual(await call('replaces.ts', { payload: [1] }), { kind: 'one', action })
  assert.deepEqual(await call('other.ts'), { kind: 'one', action: { name: { value: 'other' } } })
})

test('what a call leaves behind harms no later one', async (t) => {
  const { call, event } = await createServing(
    t,
    {
      'leaves.ts': `
        export default async ({ payload: { deed, ms } }: any) => {
          if (deed === 'wait') await new Promise((done) => setTimeout(done, ms))
          if (deed === 'throw') setTimeout(() => { throw new Error('left') }, ms)
          if (deed === 'exit') setTimeout(() => process.exit(5), ms)
          return { message: deed }
        }`,
    },
    { limits: { concurrency: 1 } },
  )
  const said = (value: string) => ({ kind: 'one', action: { message: { value } } })
  for (const deed of ['throw', 'exit']) {
    assert.deepEqual(await call('leaves.ts', { requestId: deed, payload: { deed, ms: 10 } }), said(deed))
    assert.deepEqual(await call('leaves.ts', { payload: { deed: 'wait', ms: 100 } }), said('wait'))
    const told = await event(
      (each) => each.type === 'worker-lost' || (each.type === 'transform-output' && each.requestId === deed),
    )
    if (told.type === 'worker-lost')
      assert.equal(told.reason, 'was ended by what an earlier call left behind')
    else if (told.type === 'transform-output') {
      assert.equal(told.level, 'error')
      const text = deed === 'throw' ? /^Error: left .*leaves\.ts:4:/ : /process\.exit\(5\).*leaves\.ts:5:/
      assert.match(told.text, text)
    }
  }
})

test('a call whose worker is busy with what an earlier one left is run by another, once', async (t) => {
  const { call, event } = await createServing(
    t,
    {
      'blocks.ts': `
        let calls = 0
        /** Once the answer is on its way, and before anything else is heard. */
        async function blockSoon() {
          for (let turn = 0; turn < 100; turn++) await null
          for (;;) {}
        }
        export default ({ payload }: any) => {
          if (payload.block) void blockSoon()
          return { message: String(++calls) }
        }`,
    },
    { limits: { concurrency: 1 } },
  )
  const first = { kind: 'one', action: { message: { value: '1' } } }
  assert.deepEqual(await call('blocks.ts', { payload: { block: true } }), first)
  assert.deepEqual(await call('blocks.ts', { payload: {} }), first, 'it was the first call of its worker')
  const lost = await event((each) => each.type === 'worker-lost')
  assert.ok(lost.type === 'worker-lost' && /left behind/.test(lost.reason))
})
