import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TransformEvent } from '../port.ts'
import { answerOf, createServing } from './fixture.ts'

/** A busy machine may also be slow to load a module, which is logged. */
const linesOf = (events: readonly TransformEvent[]) =>
  events
    .filter((event) => event.type === 'transform-output')
    .filter(({ text }) => text.startsWith('answers '))

test("a transform written for OpenClaw runs unchanged, with one warning for each word of OpenClaw's", async (t) => {
  const modules = {
    'wakes.js': `export default (ctx) => ({ kind: 'wake', text: ctx.payload.text + ctx.url.searchParams.get('team') + ctx.url.pathname })`,
    'agents.js':
      'export function handle(ctx) { return [{ kind: "agent", message: "m", agentId: "hooks" }, null] }',
    'found.mjs': 'export const transform = () => ({ message: "found by itself" })',
    'common.cjs': 'exports.transform = () => ({ message: "found here, too" })',
  }
  const { call, events } = await createServing(t, modules, { exports: { 'agents.js': ['handle'] } })
  const asked = { payload: { text: 'for ' }, query: { team: 'web', list: ['a', 'b'] }, path: 'github' }
  for (let n = 0; n < 2; n++) {
    assert.deepEqual(await call('wakes.js', asked), {
      kind: 'one',
      action: { action: { value: 'wake' }, text: { value: 'for web/hooks/github' } },
    })
    assert.deepEqual(await call('agents.js', {}, 'handle'), {
      kind: 'list',
      actions: [{ action: { value: 'agent' }, message: { value: 'm' } }, null],
    })
  }
  assert.deepEqual(await call('found.mjs'), answerOf('found by itself'))
  assert.deepEqual(await call('common.cjs'), answerOf('found here, too'))
  const warnings = linesOf(events).map(({ module, text }) => `${module} ${text}`)
  const kind = 'answers `kind`, as for OpenClaw: it is read as `action`; write that instead'
  const agentId =
    'answers `agentId`, as for OpenClaw: it is passed over; set `runner` in the mapping, or a `sessionKey`'
  assert.deepEqual(warnings, [`wakes.js ${kind}`, `agents.js ${kind}`, `agents.js ${agentId}`])
})

test('fields of OpenClaw without a counterpart are passed over, each with one warning', async (t) => {
  const { call, events } = await createServing(t, {
    'a.js': `export default () => ({ message: 'm', sessionKey: 'hook:a', sessionKeySource: 'static', sessionMode: 'isolated', allowUnsafeExternalContent: true })`,
    'b.js': `export default () => ({ message: 'm', sessionMode: undefined })`,
  })
  for (let n = 0; n < 2; n++) {
    const answer = { kind: 'one', action: { message: { value: 'm' }, sessionKey: { value: 'hook:a' } } }
    assert.deepEqual(await call('a.js'), answer)
    assert.deepEqual(await call('b.js'), answerOf('m'))
  }
  const words = linesOf(events).map(({ text }) => /^answers `(\w+)`/.exec(text)?.[1])
  assert.deepEqual(words, ['sessionKeySource', 'sessionMode', 'allowUnsafeExternalContent'])
})
