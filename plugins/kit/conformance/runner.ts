/** Tests what every runner must do. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Progress, Runner, Turn, TurnResult } from '../runner.ts'
import { assertPluginError, assertSentence, assertStorable, isOutage } from './assertions.ts'
import { openFixture } from './closed-once.ts'
import { within } from './deadline.ts'
import { leaksOf, openResources } from './handles.ts'
import { assertInertPlugin } from './import.ts'
import { watchListeners } from './listeners.ts'
import {
  bareTurn,
  compaction,
  heartbeat,
  hugePrompt,
  promptOf,
  referringPrompt,
  turnOf,
  unicodePrompt,
} from './turns.ts'

export interface RunnerFixture {
  readonly runner: Runner
  /** Lets the service behind the runner take turns and never answer. Absent if there is no service. */
  stall?(): void
  /**
   * Lets that service begin its answers and never end them. Settles when it has begun one. Absent if it answers in
   * one piece.
   */
  stallMidway?(): Promise<void>
  /** Lets the service behind the runner fail every turn. Absent if there is no service. */
  fail?(): void
  /**
   * Ways in which every turn fails, such as `expired key` or `network down`, by name. Each lets the service fail like that.
   * Absent if there is no service.
   */
  readonly outages?: Breakages
  /** Ways in which only this turn fails, such as `prompt too long`, by name. Absent if no turn fails for its own sake. */
  readonly ownFailures?: Breakages
  /** Returns the texts that were handed over to that service. Absent if the runner hands no turns over. */
  handed?(): readonly string[]
  /** True if the runner starts a program, which may open files that its prompt names as `@path`. Default: false. */
  readonly startsProgram?: boolean
  /** True if each result has a `state`, which is passed to the session's next turn. Default: false. */
  readonly remembers?: boolean
  /** Releases what `create` has acquired: the runner and the fake of its service. */
  close?(): Promise<void> | void
}

export type Breakages = Readonly<Record<string, () => Promise<void> | void>>

export interface RunnerConformance {
  /** The name of the suite in the report. */
  readonly name: string
  /** The plugin's entry point, which its package exports. */
  readonly plugin: URL
  /**
   * Creates a runner whose replies hold the prompt of their turn, because its service repeats it. A runner that hands
   * turns over hands over a text with the prompt in it.
   */
  create(): Promise<RunnerFixture> | RunnerFixture
  /** The credentials of the fixture, which no error and no result may show. */
  readonly secrets?: readonly string[]
}

export function runnerConformance({ name, ...options }: RunnerConformance): void {
  describe(name, () => {
    for (const promise of Object.keys(promises)) runnerTest(promise, options)
  })
}

/** One of the tests, by its name. */
export function runnerTest(promise: string, options: Omit<RunnerConformance, 'name'>): void {
  test(promise, async (t) => {
    const create = () => openFixture(t, options.create)
    await promises[promise]?.(await create(), { secrets: [], ...options, create, t })
  })
}

/** The fixture and context of a test. `create` makes another fixture, and closes it at the end of the test. */
interface Asked extends Required<Omit<RunnerConformance, 'name'>> {
  readonly t: TestContext
}

/** The tests by name. */
const promises: Readonly<Record<string, (fixture: RunnerFixture, asked: Asked) => Promise<void>>> = {
  async 'answers a turn'(fixture, { secrets }) {
    await assertAnswered(fixture, turnOf(1), secrets)
  },

  async 'answers a turn with only the required fields'(fixture, { secrets }) {
    await assertAnswered(fixture, bareTurn(1), secrets)
  },

  async 'answers a heartbeat'(fixture, { secrets }) {
    assertResult(await run(fixture.runner, heartbeat()), secrets)
  },

  async 'answers a compaction with something to remember'({ runner }, { t, secrets }) {
    if (runner.keepsHistory) return t.skip('the runner keeps its conversations elsewhere')
    const result = await run(runner, compaction())
    assertResult(result, secrets)
    assert.notEqual(result.reply.trim(), '', 'the summary says something')
  },

  async 'answers a whole prompt of 200 KB'(fixture, { secrets }) {
    await assertAnswered(fixture, { ...turnOf(1), prompt: hugePrompt }, secrets)
  },

  async 'answers a prompt in any script to the last character'(fixture, { secrets }) {
    await assertAnswered(fixture, { ...turnOf(1), prompt: unicodePrompt }, secrets)
  },

  async 'lets a text from outside name no file to its program'({ runner, startsProgram = false }, { t }) {
    if (!startsProgram) return t.skip('the runner starts no program')
    const { reply } = await run(runner, { ...turnOf(1), prompt: referringPrompt })
    assert.ok(reply.includes('Follow @RULES.md'), 'the operator’s own words stay as they are')
    const outside = reply.slice(reply.indexOf('<outside-data'))
    assert.deepEqual(outside.match(/.{0,8}@(?! ).{0,8}/gs) ?? [], [], 'a space is behind each @ of a fence')
  },

  async 'leaves the turn unchanged'(fixture) {
    for (const turn of [turnOf(1), heartbeat()]) {
      const before = structuredClone(turn)
      await run(fixture.runner, turn)
      assert.deepEqual(turn, before)
    }
  },

  async 'keeps turns of different sessions apart'(fixture) {
    const numbers = Array.from({ length: 8 }, (_, index) => index + 1)
    const results = await Promise.all(numbers.map((number) => run(fixture.runner, turnOf(number))))
    const answered = (text: string) => numbers.filter((number) => text.includes(promptOf(number)))
    if (fixture.handed) {
      const each = fixture.handed().map((text) => answered(text).join())
      assert.deepEqual(each.sort(), numbers.map(String), 'each turn is handed over once, and alone')
      return
    }
    for (const [index, { reply }] of results.entries()) {
      assert.deepEqual(answered(reply), [numbers[index]], 'a reply answers its own turn and no other')
    }
  },

  async 'gives each session a state of its own and continues from it'(
    { runner, remembers = false },
    { t, secrets },
  ) {
    if (!remembers) return t.skip('the runner remembers nothing')
    const states: (string | undefined)[] = []
    for (const number of [1, 2]) {
      const first = await run(runner, turnOf(number))
      assert.ok(first.state, 'a first turn brings a state')
      const next = await run(runner, { ...turnOf(number), runId: 'later', state: first.state, history: [] })
      assert.ok(next.reply.includes(promptOf(number)), 'the next turn is answered as well')
      assert.ok(next.state, 'and brings a state again')
      assertResult(next, secrets)
      states.push(first.state)
    }
    assert.notEqual(states[0], states[1], 'another session has another state')
  },

  async 'has no reply to a turn that it handed over'(fixture, { t }) {
    const { reply, handedOver } = await run(fixture.runner, turnOf(1))
    if (handedOver === undefined && !fixture.handed) return t.skip('the runner hands nothing over')
    assertSentence(handedOver, 'where the turn went', 200)
    assert.equal(reply, '')
  },

  async 'warns in short sentences'(fixture) {
    for (const turn of [{ ...turnOf(1), thinking: 'xhigh' }, heartbeat()]) {
      const { warnings = [] } = await run(fixture.runner, turn)
      for (const warning of warnings) assertSentence(warning, 'a warning')
    }
  },

  async 'reports progress while the turn lasts and never after it'(fixture) {
    const reported: Progress[] = []
    const { signal } = new AbortController()
    const call = { signal, onProgress: (progress: Progress) => void reported.push(progress) }
    await within(fixture.runner.run(turnOf(1), call), 'the turn ends')
    for (const { text, note } of reported) {
      assert.ok(text === undefined || typeof text === 'string', 'reported text is a string')
      assert.ok(note === undefined || typeof note === 'string', 'what is noted is a text')
    }
    const during = reported.length
    await quiet()
    assert.equal(reported.length, during, 'nothing is reported after the turn')
  },

  async 'soon throws a PluginError when aborted before it starts'(fixture, { secrets }) {
    const call = { signal: AbortSignal.abort() }
    const turn = fixture.runner.run(turnOf(1), call)
    await within(assertPluginError(turn, secrets), 'an aborted turn ends')
  },

  async 'soon throws a PluginError when aborted in the middle'(fixture, { t, secrets }) {
    if (fixture.stall === undefined) return t.skip('the fixture has no service that could stall')
    fixture.stall()
    const abort = new AbortController()
    const turn = assertPluginError(fixture.runner.run(turnOf(1), abort), secrets)
    setImmediate(() => abort.abort())
    await within(turn, 'an aborted turn ends')
  },

  async 'soon throws a PluginError when aborted while its answer arrives'(fixture, { t, secrets }) {
    if (fixture.stallMidway === undefined) return t.skip('the fixture has no service that could stop midway')
    const begun = fixture.stallMidway()
    const abort = new AbortController()
    const turn = assertPluginError(fixture.runner.run(turnOf(1), abort), secrets)
    await within(begun, 'the service begins to answer')
    await quiet()
    abort.abort()
    await within(turn, 'an aborted turn ends')
  },

  async 'throws a PluginError that shows no secret when its service fails'(fixture, { t, secrets }) {
    const turn = failedTurn(fixture, t)
    if (turn) await within(assertPluginError(turn, secrets), 'a failed turn ends')
  },

  async 'says in one short sentence why its service failed'(fixture, { t }) {
    const error = await within(failedTurn(fixture, t)?.catch(asError) ?? nothing, 'a failed turn ends')
    if (error) assertSentence((error as Error).message, 'the error’s message')
  },

  async 'holds its runs back while its service fails every turn'(fixture, asked) {
    await assertScopes('outages', true, fixture, asked)
  },

  async 'holds no other run back when a turn fails for its own sake'(fixture, asked) {
    await assertScopes('ownFailures', false, fixture, asked)
  },

  async 'always says in a short sentence why it does not take a model'({ runner }, { t }) {
    if (runner.checkModel === undefined) return t.skip('the runner takes any model')
    for (const model of ['nobody/knows-this', 'nobody/knows-this', 'x']) {
      const reason = runner.checkModel(model)
      if (reason !== undefined) assertSentence(reason, 'the reason')
      assert.equal(runner.checkModel(model), reason, 'asked again it says the same')
    }
  },

  async 'leaves no timer behind a turn'(fixture) {
    // The first turn may open a connection that later turns reuse.
    await run(fixture.runner, turnOf(1))
    const before = await openResources()
    await run(fixture.runner, turnOf(2))
    assert.deepEqual(await leaksOf(before, ['Timeout']), [])
  },

  async 'leaves no listener on the signal of a turn'(fixture) {
    const { signal, left } = watchListeners(new AbortController().signal)
    await within(fixture.runner.run(turnOf(1), { signal }), 'the turn ends')
    await quiet()
    assert.equal(left(), 0, 'no listeners are left')
  },

  async 'leaves nothing open after close'(_fixture, { create }) {
    const before = await openResources()
    const fixture = await create()
    await run(fixture.runner, turnOf(1))
    await fixture.close?.()
    assert.deepEqual(await leaksOf(before), [])
  },

  'does nothing on import': (_fixture, { plugin }) => assertInertPlugin(plugin),
}

/** Asserts for each of the fixture's breakages whether the host takes its error for one of the whole service. */
async function assertScopes(
  kind: 'outages' | 'ownFailures',
  expected: boolean,
  first: RunnerFixture,
  { t, create, secrets }: Asked,
): Promise<void> {
  const names = Object.keys(first[kind] ?? {})
  if (names.length === 0) return t.skip(`the fixture has no ${kind}`)
  for (const name of names) {
    const { runner, [kind]: breakages = {} } = await create()
    await breakages[name]?.()
    const turn = runner.run(turnOf(1), { signal: new AbortController().signal })
    const error = await within(assertPluginError(turn, secrets), 'a failed turn ends')
    const facts = `${name}: ${error.code}, retryable ${error.retryable}, wholeService ${error.wholeService}`
    assert.equal(isOutage(error), expected, facts)
  }
}

/** Waits for some rounds of the event loop, so that pending events of this process arrive. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 50; round += 1) await yieldToEventLoop()
}

const nothing = Promise.resolve(undefined)

const asError = (error: unknown) => error

function run(runner: Runner, turn: Turn): Promise<TurnResult> {
  return within(runner.run(turn, { signal: new AbortController().signal }), 'the turn ends')
}

/** Returns the error of a turn whose service fails, or undefined if there is no service. */
function failedTurn({ fail, runner }: RunnerFixture, t: TestContext): Promise<TurnResult> | undefined {
  if (fail === undefined) {
    t.skip('the fixture has no service that could fail')
    return undefined
  }
  fail()
  return runner.run(turnOf(1), { signal: new AbortController().signal })
}

async function assertAnswered(fixture: RunnerFixture, turn: Turn, secrets: readonly string[]): Promise<void> {
  const result = await run(fixture.runner, turn)
  assertResult(result, secrets)
  const [text = '', ...others] = fixture.handed?.() ?? [result.reply]
  assert.ok(text.includes(turn.prompt), 'the reply holds the prompt')
  assert.deepEqual(others, [], 'a turn is handed over once')
}

function assertResult(result: TurnResult, secrets: readonly string[]): void {
  assert.equal(typeof result.reply, 'string')
  for (const [name, count] of Object.entries(result.usage ?? {})) {
    assert.ok(count === undefined || (Number.isInteger(count) && count >= 0), `usage counts tokens: ${name}`)
  }
  assert.ok((result.state?.length ?? 0) <= maxStateLength, `a state has at most ${maxStateLength} characters`)
  assertStorable(result, secrets)
}

/** Maximum length of a sentence, in characters. */
const maxStateLength = 4096
