/** Owns what every runner must do, as tests. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Runner, Turn, TurnResult } from '../runner.ts'
import { assertPluginError, assertStorable } from './assertions.ts'
import { leaksOf, openResources } from './handles.ts'
import { assertInertPlugin } from './import.ts'
import { within } from './patience.ts'

export interface RunnerFixture {
  readonly runner: Runner
  /** From now on the service behind the runner takes a turn and never answers. Absent: nothing is behind it. */
  stall?(): void
  /** From now on the service behind the runner fails every turn. Absent: nothing is behind it. */
  fail?(): void
  /** Releases what `create` took, the runner and the service that stands in for the vendor. */
  close?(): Promise<void> | void
}

export interface RunnerConformance {
  /** The suite's name in the report. */
  readonly name: string
  /** The plugin's entry: what its package exports. */
  readonly plugin: URL
  /** A fresh runner, set up so that a reply holds the prompt of its turn: point it at a service that repeats. */
  create(): Promise<RunnerFixture> | RunnerFixture
  /** Credentials that the fixture uses; they must show up in no error and no result. */
  readonly secrets?: readonly string[]
}

export function runnerConformance({ name, plugin, create, secrets = [] }: RunnerConformance): void {
  describe(name, () => {
    test('answers a turn', async () => {
      await using used = await use(create)
      const result = await run(used.fixture.runner, turnOf(1))
      assertResult(result, secrets)
      assert.ok(result.reply.includes(promptOf(1)), 'the reply holds the prompt')
    })

    test('answers a heartbeat', async () => {
      await using used = await use(create)
      assertResult(await run(used.fixture.runner, heartbeat()), secrets)
    })

    test('leaves the turn as it was', async () => {
      await using used = await use(create)
      for (const turn of [turnOf(1), heartbeat()]) {
        const before = structuredClone(turn)
        await run(used.fixture.runner, turn)
        assert.deepEqual(turn, before)
      }
    })

    test('keeps turns of different sessions apart', async () => {
      await using used = await use(create)
      const { runner } = used.fixture
      const numbers = Array.from({ length: 8 }, (_, index) => index + 1)
      const results = await Promise.all(numbers.map((number) => run(runner, turnOf(number))))
      for (const [index, { reply }] of results.entries()) {
        const answered = numbers.filter((number) => reply.includes(promptOf(number)))
        assert.deepEqual(answered, [numbers[index]], 'a reply answers its own turn and no other')
      }
    })

    test('throws a PluginError soon when it is called off before it starts', async () => {
      await using used = await use(create)
      const call = { signal: AbortSignal.abort() }
      const turn = used.fixture.runner.run(turnOf(1), call)
      await within(assertPluginError(turn, secrets), 'an aborted turn ends')
    })

    test('throws a PluginError soon when it is called off in the middle', async (t) => {
      await using used = await use(create)
      if (used.fixture.stall === undefined) return t.skip('the fixture has no service that could stall')
      used.fixture.stall()
      const abort = new AbortController()
      const turn = assertPluginError(used.fixture.runner.run(turnOf(1), abort), secrets)
      setImmediate(() => abort.abort())
      await within(turn, 'an aborted turn ends')
    })

    test('throws a PluginError that tells no secret when its service fails', async (t) => {
      await using used = await use(create)
      if (used.fixture.fail === undefined) return t.skip('the fixture has no service that could fail')
      used.fixture.fail()
      const turn = used.fixture.runner.run(turnOf(1), { signal: new AbortController().signal })
      await within(assertPluginError(turn, secrets), 'a failed turn ends')
    })

    test('leaves nothing open after close', async () => {
      const before = openResources()
      {
        await using used = await use(create)
        await run(used.fixture.runner, turnOf(1))
      }
      assert.deepEqual(await leaksOf(before), [])
    })

    test('does nothing on import', () => assertInertPlugin(plugin))
  })
}

async function use(create: RunnerConformance['create']) {
  const fixture = await create()
  return {
    fixture,
    async [Symbol.asyncDispose]() {
      await fixture.close?.()
    },
  }
}

function run(runner: Runner, turn: Turn): Promise<TurnResult> {
  return within(runner.run(turn, { signal: new AbortController().signal }), 'the turn ends')
}

function promptOf(number: number): string {
  return `prompt <${number}> of its session`
}

function turnOf(number: number): Turn {
  const history = [
    { role: 'user', text: 'What is the time?', at: 1 },
    { role: 'assistant', text: 'It is noon.', at: 2 },
  ] as const
  return freeze({
    runId: `run-${number}`,
    sessionKey: `hook:${number}`,
    kind: 'run',
    prompt: promptOf(number),
    events: [],
    history: history.map(freeze),
    attempt: 1,
  })
}

function heartbeat(): Turn {
  const events = [
    { id: 'event-1', text: 'The first event.', at: 1 },
    { id: 'event-2', text: 'The second event,\nof two lines.', at: 2 },
  ]
  const prompt = events.map((event) => event.text).join('\n')
  return freeze({ ...turnOf(9), kind: 'heartbeat', sessionKey: 'main', prompt, events: events.map(freeze) })
}

function freeze<Value extends object>(value: Value): Value {
  for (const each of Object.values(value)) if (Array.isArray(each)) Object.freeze(each)
  return Object.freeze(value)
}

function assertResult(result: TurnResult, secrets: readonly string[]): void {
  assert.equal(typeof result.reply, 'string')
  for (const count of [result.usage?.inputTokens, result.usage?.outputTokens]) {
    assert.ok(count === undefined || (Number.isInteger(count) && count >= 0), 'usage counts tokens')
  }
  assertStorable(result, secrets)
}
