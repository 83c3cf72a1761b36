/** Runners that each break one promise, under the name of the test that has to notice. Run by suites.test.ts. */

import { createServer } from 'node:net'
import { PluginError } from '../../plugin-error.ts'
import type { Runner } from '../../runner.ts'
import { type RunnerFixture, runnerConformance } from '../index.ts'
import { createGoodRunner, secret } from './good.ts'

type Run = Runner['run']

function spoil(run: (answer: Run) => Run): () => RunnerFixture {
  return () => {
    const fixture = createGoodRunner()
    return { ...fixture, runner: { id: 'broken', run: run(fixture.runner.run) } }
  }
}

/** What every runner of this process was asked: the kind of state that mixes turns up. */
const asked: string[] = []
const forever = { signal: new AbortController().signal }
const inert = new URL('./inert-plugin.ts', import.meta.url)

suite('a good runner', createGoodRunner)
suite(
  'answers a turn',
  spoil(() => async () => ({ reply: 'Hello!' })),
)
suite(
  'answers a heartbeat',
  spoil((answer) => async (turn, call) => {
    if (turn.kind === 'heartbeat') return { reply: turn.prompt, usage: { inputTokens: -1 } }
    return answer(turn, call)
  }),
)
suite(
  'leaves the turn as it was',
  spoil((answer) => async (turn, call) => {
    Reflect.apply(Array.prototype.push, turn.history, [{ role: 'user', text: turn.prompt, at: 1 }])
    return answer(turn, call)
  }),
)
suite(
  'keeps turns of different sessions apart',
  spoil((answer) => async (turn, call) => {
    asked.push(turn.prompt)
    await answer(turn, call)
    return { reply: asked.join('\n') }
  }),
)
suite(
  'throws a PluginError soon when it is called off before it starts',
  spoil((answer) => (turn, call) => answer(turn, call.signal.aborted ? forever : call)),
)
suite(
  'throws a PluginError soon when it is called off in the middle',
  spoil((answer) => async (turn, call) => {
    return answer(turn, call).catch(() => {
      throw new Error('no PluginError')
    })
  }),
)
suite(
  'throws a PluginError that tells no secret when its service fails',
  spoil((answer) => async (turn, call) => {
    return answer(turn, call).catch((cause) => {
      throw new PluginError(`401 for ${secret}`, { code: 'bad-credential', retryable: false, cause })
    })
  }),
)
suite('leaves nothing open after close', () => {
  createServer().listen(0, '127.0.0.1')
  return createGoodRunner()
})
suite('does nothing on import', createGoodRunner, new URL('./busy-plugin.ts', import.meta.url))

function suite(name: string, create: () => RunnerFixture, plugin = inert): void {
  runnerConformance({ name, create, plugin, secrets: [secret] })
}
