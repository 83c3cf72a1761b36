import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TransformEvent } from '../port.ts'
import { createServing, failureOf } from './fixture.ts'

type Line = Extract<TransformEvent, { type: 'transform-output' }>
const linesOf = (events: readonly TransformEvent[]) =>
  events.filter((event): event is Line => event.type === 'transform-output')

test('the output of a module is logged with its level, module and request', async (t) => {
  const { call, events } = await createServing(t, {
    'talks.ts': `
      console.info('loaded')
      export default async () => {
        console.debug('d', { a: 1 })
        console.log('one\\n\\ntwo')
        console.warn('w')
        console.error(new Error('e').message)
        console.group('group'); console.log('inside'); console.groupEnd()
        console.table([])
        process.stdout.write('raw')
        process.stderr.write(Buffer.from('err'))
        console.log('\\u001b[31mred\\u001b[0m \\u0007bell \\u202eturned')
        console.log('x'.repeat(2000))
        await new Promise((done) => setTimeout(done, 1))
        console.log('later')
        return null
      }`,
  })
  await call('talks.ts', { requestId: 'request-1' })
  // A second worker may have been loaded meanwhile.
  const [loaded] = linesOf(events)
  const lines = linesOf(events).filter(({ text }) => text !== 'loaded')
  assert.deepEqual(loaded, { type: 'transform-output', module: 'talks.ts', level: 'info', text: 'loaded' })
  assert.ok(lines.every(({ module, requestId }) => module === 'talks.ts' && requestId === 'request-1'))
  const reports = lines.map(({ level, text }) => `${level} ${text}`)
  const first = [
    'debug d { a: 1 }',
    'info one',
    'info two',
    'warn w',
    'error e',
    'info group',
    'info   inside',
  ]
  assert.deepEqual(reports.slice(0, 7), first)
  assert.deepEqual(reports.slice(-5, -2), ['info raw', 'error err', 'info red \ufffdbell \ufffdturned'])
  assert.equal(reports.at(-2), `info ${'x'.repeat(1_000)}…`)
  assert.equal(reports.at(-1), 'info later')
})

test('no line that a thread printed before it ended is lost', async (t) => {
  const modules = {
    'exits.ts': 'export default () => { for (let n = 0; n < 50; n++) console.log(n); process.exit() }',
    'loops.ts': 'export default () => { for (let n = 0; n < 50; n++) console.log(n); for (;;) {} }',
  }
  const { call, events } = await createServing(t, modules, { limits: { timeoutMs: 500 } })
  for (const module of ['exits.ts', 'loops.ts']) {
    await failureOf(call(module))
    const texts = linesOf(events).filter((line) => line.module === module)
    assert.equal(texts.map(({ text }) => text).join(), [...Array(50).keys()].join())
  }
})

test('of a flood of lines only the first are passed on, and the others are counted', async (t) => {
  const floods =
    'export default () => { for (let n = 0; n < 100_000; n++) console.log("line " + n); return null }'
  const { call, event, events } = await createServing(t, { 'floods.ts': floods })
  await call('floods.ts')
  const dropped = () =>
    events.reduce((sum, each) => sum + (each.type === 'transform-output-dropped' ? each.lines : 0), 0)
  await event(() => linesOf(events).length + dropped() >= 100_000)
  const reports = linesOf(events).length
  // The limit starts again when a second of the worker's clock ends in between.
  assert.ok(reports >= 200 && reports <= 2_000, `${reports} lines`)
  assert.equal(reports + dropped(), 100_000)
})

test('a failure keeps the name of its error, so that logs can be searched for it', async (t) => {
  const { call } = await createServing(t, {
    'throws.ts': `
      class ZodError extends Error { override name = 'ZodError' }
      export default ({ payload }: any) => { throw payload.zod ? new ZodError('no') : new TypeError('no') }`,
  })
  const nameFor = async (zod: boolean) =>
    ((await failureOf(call('throws.ts', { payload: { zod } }))).cause as Error).name
  assert.deepEqual([await nameFor(false), await nameFor(true)], ['TypeError', 'ZodError'])
})
