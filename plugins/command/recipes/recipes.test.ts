import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Usage } from '@reveille/kit'
import { failureOf } from '@reveille/kit/fake-server'
import { atEnd } from '../../../test/at-end.ts'
import { createFakeProgram, isAlive, openCall, type Preset, turnOf } from '../fake-programs/fake-program.ts'

interface Expectation {
  readonly model: string
  /** The arguments that the program is given for it. */
  readonly modelGiven: string
  readonly otherModel: string
  readonly hasThinking: boolean
  /** True if it is passed as an argument, and not before the first prompt of a conversation. */
  readonly isSystemPromptGiven: boolean
  readonly failure: RegExp
  readonly usage?: Usage
  readonly progress: RegExp
}

const usage = { inputTokens: 12, outputTokens: 5, cachedInputTokens: 3 }

const expectations: Readonly<Record<Preset, Expectation>> = {
  claude: {
    model: 'anthropic/claude-sonnet-4-5',
    modelGiven: 'claude-sonnet-4-5',
    otherModel: 'openai/gpt-5',
    hasThinking: true,
    isSystemPromptGiven: true,
    failure: /claude ended with code 1: API Error: 529 overloaded/,
    usage,
    progress: /uses Read/,
  },
  codex: {
    model: 'openai/gpt-5-codex',
    modelGiven: 'gpt-5-codex',
    otherModel: 'anthropic/claude-sonnet-4-5',
    hasThinking: true,
    isSystemPromptGiven: false,
    failure: /codex ended with code 1: stream disconnected before completion/,
    usage: { ...usage, reasoningTokens: 2 },
    progress: /command_execution/,
  },
  gemini: {
    model: 'google/gemini-2.5-pro',
    modelGiven: 'gemini-2.5-pro',
    otherModel: 'openai/gpt-5',
    hasThinking: false,
    isSystemPromptGiven: false,
    failure: /gemini ended with code 1: .*quota/s,
    usage: { ...usage, reasoningTokens: 2 },
    progress: /^$/,
  },
}

const posix = {
  skip: process.platform === 'win32' && 'the fake programs are started by shell scripts',
  concurrency: true,
}

for (const [name, expected] of Object.entries(expectations)) {
  const preset = name as Preset
  describe(`the recipe ${preset}`, posix, () => {
    test('passes model, thinking and system prompt, and continues the conversation', async (t) => {
      const { runner } = await open(t, preset)
      assert.equal(runner.keepsHistory, true)
      const { model, modelGiven, hasThinking, isSystemPromptGiven } = expected
      const asked = { model, thinking: 'high', systemPrompt: 'Be brief.' }
      const call = openCall()
      const first = await runner.run(turnOf('Look at #7.', asked), call)
      assert.match(first.reply, new RegExp(`^model=${modelGiven}$`, 'm'))
      assert.ok(first.reply.endsWith('Look at #7.'))
      assert.equal(first.reply.includes('thinking=high'), hasThinking)
      assert.equal(first.warnings === undefined, hasThinking, String(first.warnings))
      assert.match(first.reply, isSystemPromptGiven ? /^system=Be brief\.$/m : /^Be brief\.\n\nLook at/m)
      assert.deepEqual(first.usage, expected.usage)
      assert.match(call.reported.map(({ note, text }) => note ?? text).join('\n'), expected.progress)

      const { state } = first
      const second = await runner.run(turnOf('And #8?', { ...asked, state }), openCall())
      assert.match(second.reply, /^turn=2$/m)
      assert.match(second.reply, new RegExp(`^model=${modelGiven}$`, 'm'))
      assert.equal(second.reply.includes('Be brief.'), isSystemPromptGiven)
      assert.deepEqual(second.usage, expected.usage, 'a turn costs what it costs, whatever went before')
    })

    test("fails with the program's own words, and refuses models that it cannot take", async (t) => {
      const fakeProgram = await open(t, preset)
      const { otherModel, model } = expected
      fakeProgram.play('fail')
      const error = await failureOf(fakeProgram.runner.run(turnOf('Look.', { model }), openCall()))
      assert.deepEqual([error.code, error.retryable], ['exit', false])
      assert.match(error.message, expected.failure)
      assert.equal(fakeProgram.runner.checkModel?.(model), undefined)
      const others = ['--help', `${model}\n`, `x ${model}`, otherModel]
      for (const other of others) assert.match(fakeProgram.runner.checkModel?.(other) ?? '', /takes no model/)
    })

    test('begins a new conversation when the program has lost the old one, and says so', async (t) => {
      const fakeProgram = await open(t, preset)
      const { state } = await fakeProgram.runner.run(turnOf('One.'), openCall())
      await fakeProgram.forget()
      const result = await fakeProgram.runner.run(turnOf('Two.', { state }), openCall())
      assert.match(result.reply, /^turn=1$/m)
      assert.match(result.warnings?.join() ?? '', /no longer had the conversation/)
      const third = await fakeProgram.runner.run(turnOf('Three.', { state: result.state }), openCall())
      assert.match(third.reply, /^turn=2$/m)
      assert.equal(third.warnings, undefined)
    })

    test('is killed with its children if it ignores TERM, and the turn does not wait for that', async (t) => {
      const fakeProgram = await open(t, preset)
      fakeProgram.play('hang')
      const abort = new AbortController()
      const running = failureOf(fakeProgram.runner.run(turnOf('Look.'), openCall(abort.signal)))
      const pids = await fakeProgram.pids(running)
      assert.deepEqual(await Promise.all(pids.map(isAlive)), [true, true])
      abort.abort(new DOMException('The time for this call is over.', 'TimeoutError'))
      const error = await running
      assert.equal(error.code, 'aborted')
      // The next turn of the session waits until nothing of the last one is left.
      fakeProgram.play('')
      await fakeProgram.runner.run(turnOf('Again.'), openCall())
      assert.deepEqual(await Promise.all(pids.map(isAlive)), [false, false])
    })
  })
}

for (const [preset, words, isOutage] of [
  ['claude', 'Invalid API key · Please run /login', true],
  ['claude', 'Credit balance is too low', true],
  ['claude', 'API Error: 401 {"type":"error","error":{"type":"authentication_error"}}', true],
  ['claude', 'API Error: 529 overloaded', false],
  ['claude', 'API Error: 400 messages.0: "Invalid API key"', false],
  ['codex', 'unexpected status 401 Unauthorized: Missing bearer', true],
  ['codex', "You've hit your usage limit. Try again at 2:57 PM.", true],
  ['codex', 'stream disconnected before completion', false],
  ['codex', 'The prompt says: unexpected status 401', false],
] as const)
  test(`${preset} ${isOutage ? 'holds the runner' : 'fails the run'}: ${words}`, posix, async (t) => {
    const fakeProgram = await open(t, preset)
    fakeProgram.play(`fail ${words}`)
    const error = await failureOf(fakeProgram.runner.run(turnOf('Look.'), openCall()))
    assert.deepEqual([error.code, error.wholeService], ['exit', isOutage], error.message)
  })

test('claude continues a conversation whose id was not stored', posix, async (t) => {
  const { runner } = await open(t, 'claude')
  await runner.run(turnOf('One.'), openCall())
  const { reply, warnings } = await runner.run(turnOf('Two.'), openCall())
  assert.match(reply, /^turn=2$/m)
  assert.equal(warnings, undefined)
})

test(
  'processes that a program leaves behind delay no turn, and end before the plugin does',
  posix,
  async (t) => {
    const fakeProgram = await open(t, 'codex')
    fakeProgram.play('linger')
    const turn = fakeProgram.runner.run(turnOf('Look.'), openCall())
    const pids = await fakeProgram.pids(turn)
    assert.match((await turn).reply, /Look\.$/)
    await fakeProgram.stop()
    assert.deepEqual(await Promise.all(pids.map(isAlive)), [false, false])
  },
)

async function open(t: TestContext, preset: Preset) {
  const fakeProgram = await createFakeProgram(preset)
  atEnd(t, fakeProgram.close)
  return fakeProgram
}
