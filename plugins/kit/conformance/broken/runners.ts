/** Runners that each break one promise, under the name of the test that has to notice. suites.test.ts runs them. */

import { createServer } from 'node:net'
import { describe } from 'node:test'
import { PluginError } from '../../plugin-error.ts'
import type { Runner } from '../../runner.ts'
import { type RunnerFixture, runnerConformance } from '../index.ts'
import { runnerTest } from '../runner.ts'
import { createGoodRelay, createGoodRunner, secret } from './good.ts'

type Run = Runner['run']

function spoil(run: (answer: Run) => Run, create = createGoodRunner): () => RunnerFixture {
  return () => {
    const fixture = create()
    return { ...fixture, runner: { ...fixture.runner, id: 'broken', run: run(fixture.runner.run) } }
  }
}

/** Replaces the errors of turns. */
const failing = (change: (error: PluginError) => Error) =>
  spoil((answer) => (turn, call) => answer(turn, call).catch((error) => Promise.reject(change(error))))

/** The prompts of all runners of this process: state that mixes turns up. */
const asked: string[] = []
const forever = { signal: new AbortController().signal }

const broken: Readonly<Record<string, () => RunnerFixture>> = {
  'answers a turn': spoil(() => async () => ({ reply: 'Hello!' })),
  'answers a heartbeat': spoil((answer) => async (turn, call) => {
    if (turn.kind === 'heartbeat') return { reply: turn.prompt, usage: { inputTokens: -1 } }
    return answer(turn, call)
  }),
  'answers a turn with only the required fields': spoil((answer) => async (turn, call) => {
    if (turn.kind === 'run' && turn.action?.channel === undefined) throw new TypeError('no channel')
    return answer(turn, call)
  }),
  'answers a compaction with something to remember': spoil((answer) => async (turn, call) => {
    return turn.kind === 'compaction' ? { reply: ' ' } : answer(turn, call)
  }),
  'answers a whole prompt of 200 KB': spoil(
    (answer) => (turn, call) => answer({ ...turn, prompt: turn.prompt.slice(0, 131_072) }, call),
  ),
  'answers a prompt in any script to the last character': spoil(
    (answer) => (turn, call) => answer({ ...turn, prompt: turn.prompt.normalize('NFC') }, call),
  ),
  'lets a text from outside name no file to its program': () => ({
    ...createGoodRunner(),
    startsProgram: true,
  }),
  'leaves the turn unchanged': spoil((answer) => async (turn, call) => {
    Reflect.apply(Array.prototype.push, turn.history, [{ role: 'user', text: turn.prompt, at: 1 }])
    return answer(turn, call)
  }),
  'keeps turns of different sessions apart': spoil((answer) => async (turn, call) => {
    asked.push(turn.prompt)
    await answer(turn, call)
    return { reply: asked.join('\n') }
  }),
  'gives each session a state of its own and continues from it': spoil((answer) => async (turn, call) => ({
    ...(await answer(turn, call)),
    state: 'the state',
  })),
  'has no reply to a turn that it handed over': spoil(
    (answer) => async (turn, call) => ({ ...(await answer(turn, call)), reply: 'Handed over.' }),
    createGoodRelay,
  ),
  'warns in short sentences': spoil((answer) => async (turn, call) => {
    return { ...(await answer(turn, call)), warnings: [`It prints:\n${turn.prompt.repeat(20)}`] }
  }),
  'reports progress while the turn lasts and never after it': spoil((answer) => async (turn, call) => {
    setImmediate(() => setImmediate(() => call.onProgress?.({ note: 'done' })))
    return answer(turn, call)
  }),
  'soon throws a PluginError when aborted before it starts': spoil(
    (answer) => (turn, call) => answer(turn, call.signal.aborted ? forever : call),
  ),
  'soon throws a PluginError when aborted in the middle': failing(() => new Error('no PluginError')),
  'soon throws a PluginError when aborted while its answer arrives': () => {
    const fixture = createGoodRunner()
    let isMidway = false
    return {
      ...fixture,
      stallMidway() {
        isMidway = true
        return fixture.stallMidway?.() ?? Promise.resolve()
      },
      runner: { id: 'broken', run: (turn, call) => fixture.runner.run(turn, isMidway ? forever : call) },
    }
  },
  'says in one short sentence why its service failed': failing(
    (cause) =>
      new PluginError(`<html>${' '.repeat(600)}</html>`, { code: 'unavailable', retryable: true, cause }),
  ),
  'holds its runs back while its service fails every turn': failing(
    ({ message, code }) => new PluginError(message, { code, retryable: false }),
  ),
  'holds no other run back when a turn fails for its own sake': failing(
    ({ message, code }) => new PluginError(message, { code, retryable: false, wholeService: true }),
  ),
  'always says in a short sentence why it does not take a model': () => {
    const fixture = createGoodRunner()
    let times = 0
    const checkModel = () => `It was asked for the ${++times}. time.`
    return { ...fixture, runner: { ...fixture.runner, checkModel } }
  },
  'leaves no timer behind a turn': spoil((answer) => async (turn, call) => {
    if (turn.runId === 'run-2') setTimeout(() => {}, 60_000)
    return answer(turn, call)
  }),
  'leaves no listener on the signal of a turn': spoil((answer) => async (turn, call) => {
    call.signal.addEventListener('abort', () => {})
    return answer(turn, call)
  }),
  'throws a PluginError that shows no secret when its service fails': failing(
    (cause) => new PluginError(`401 for ${secret}`, { code: 'bad-credential', retryable: false, cause }),
  ),
  'leaves nothing open after close': () => {
    createServer().listen(0, '127.0.0.1')
    return createGoodRunner()
  },
}

const options = { plugin: new URL('./inert-plugin.ts', import.meta.url), secrets: [secret] }
const busy = { ...options, plugin: new URL('./busy-plugin.ts', import.meta.url), create: createGoodRunner }

runnerConformance({ ...options, name: 'a good runner', create: createGoodRunner })
runnerConformance({ ...options, name: 'a good runner that hands over', create: createGoodRelay })
for (const [breaks, create] of Object.entries(broken))
  describe(breaks, () => runnerTest(breaks, { ...options, create }))
describe('does nothing on import', () => runnerTest('does nothing on import', busy))
