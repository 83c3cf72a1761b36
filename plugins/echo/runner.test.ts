import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Turn } from '@reveille/kit'
import { runnerConformance } from '@reveille/kit/conformance'
import { createTurn } from '@reveille/kit/fake-server'
import { createEchoRunner } from './runner.ts'

runnerConformance({
  name: 'the echo runner conforms',
  plugin: new URL('./index.ts', import.meta.url),
  create: () => ({ runner: createEchoRunner() }),
})

const run = createTurn({
  prompt: '  Review #42:\n\n```diff\n- a\n+ b\n```\n ',
  history: [{ role: 'user', text: 'Earlier.', at: 1 }],
})

function replyTo(turn: Turn): Promise<string> {
  const { signal } = new AbortController()
  return createEchoRunner()
    .run(turn, { signal })
    .then((result) => result.reply)
}

test('a run is answered with its prompt, including its last space', async () => {
  assert.equal(await replyTo(run), run.prompt)
})

test('a heartbeat is answered with one line per event, whatever line breaks an event holds', async () => {
  const texts = ['One.', 'Two,\r\n  still two,\u2028 and\n\n\n two.', '', '\nThree.\n']
  const events = texts.map((text, index) => ({ id: String(index), text, at: index }))
  const reply = await replyTo({ ...run, kind: 'heartbeat', prompt: 'Look at these.', events })
  assert.deepEqual(reply.split('\n'), ['One.', 'Two, still two, and two.', '', 'Three.'])
})

test('a heartbeat without events has nothing to say', async () => {
  assert.equal(await replyTo({ ...run, kind: 'heartbeat' }), '')
})

test('a compaction is answered with the first line of each message, and is shorter than the messages', async () => {
  const history = [
    { role: 'user', text: '\n Review #42:\n\n- a\n+ b', at: 1 },
    { role: 'assistant', text: `${'Fine 🎉'.repeat(100)}\nAnd done.`, at: 2 },
  ] as const
  const reply = await replyTo({ ...run, kind: 'compaction', history })
  const [first, second = ''] = reply.split('\n')
  assert.equal(first, 'user: Review #42:')
  assert.equal(second, `assistant: ${Array.from('Fine 🎉'.repeat(100)).slice(0, 200).join('')}`)
  assert.equal(await replyTo({ ...run, kind: 'compaction', history: [] }), 'nothing')
})
