import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callOne, createHosted, createServing, failureOf, fieldOf } from './fixture.ts'

test('a transform is given the parameters of its own mapping, frozen', async (t) => {
  const { opened } = await createServing(t, {
    'with.ts': `export default (context: any) => {
      try { context.with.list.push(1) } catch (error) { return { name: JSON.stringify([context.with, error.name]) } }
      return { name: JSON.stringify([context.with, Object.isFrozen(context.with)]) }
    }`,
  })
  const parameters = { token: 'secret-token', list: ['a', { b: 1 }] }
  const transform = opened.bind('with.ts', 'default', parameters)
  assert.ok(transform)
  const named = async (bound: typeof transform) => {
    const answer = await callOne({ ...opened, bind: () => bound }, 'with.ts')
    return JSON.parse(String(fieldOf(answer, 'name')))
  }
  assert.deepEqual(await named(transform), [parameters, 'TypeError'])
  assert.deepEqual(await named(opened.bind('with.ts', 'default') ?? transform), [{}, 'TypeError'])
})

const secret = 'tok-0123456789abcdef'

test('a known secret is hidden in the output and errors of a transform', async (t) => {
  const hosted = await createHosted(t, {
    'says.ts': `export default ({ payload }: any) => {
      if (payload.print) console.log('token', payload.print)
      if (payload.late) setTimeout(() => { throw new Error('late ' + payload.late) })
      if (payload.throw) throw new Error('bad ' + payload.throw)
    }`,
    'top.ts': `throw new Error('at the top: ${secret}')`,
  })
  const secrets = [secret, 'of-an/address?', 'line one of it\nline two of it', 'short']
  const open = await hosted.open(['says.ts'], {}, secrets)
  assert.deepEqual(await open.start(), [])
  const print = async (text: string) => {
    const count = hosted.events.length
    await callOne(open, 'says.ts', { payload: { print: text } })
    return hosted.events
      .slice(count)
      .map((event) => (event.type === 'transform-output' ? event.text : event.type))
  }
  assert.deepEqual(await print(`a ${secret}, b`), ['token a [redacted], b'])
  assert.deepEqual(await print('of-an%2Faddress%3F'), ['token [redacted]'])
  assert.deepEqual(await print('line one of it\nline two of it'), ['token [redacted]', '[redacted]'])
  assert.deepEqual(await print('short'), ['token short'])
  const long = await print(`${'x'.repeat(980)}${secret}`)
  assert.ok(!long[0]?.includes(secret.slice(0, 8)), 'nor the part of one that is cut off')

  const failure = await failureOf(callOne(open, 'says.ts', { payload: { throw: secret } }))
  assert.equal(failure.message, 'says.ts: Error: bad [redacted]')
  assert.doesNotMatch(String((failure.cause as Error).stack), new RegExp(secret))
  await callOne(open, 'says.ts', { payload: { late: secret } })
  const late = await hosted.event((event) => event.type === 'transform-output' && event.text.includes('late'))
  assert.doesNotMatch(JSON.stringify(late), new RegExp(secret))

  const other = await hosted.open(['top.ts'])
  const [notLoaded] = await other.start()
  assert.equal(notLoaded?.message, 'top.ts cannot be loaded: Error: at the top: [redacted]')
})
