import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { Progress } from '@reveille/kit'
import { runnerConformance } from '@reveille/kit/conformance'
import { failureOf } from '@reveille/kit/fake-server'
import { atEnd } from '../../test/at-end.ts'
import { type CaptureServer, refuse, startCaptureServer, stream } from './fake-server/capture-server.ts'
import { apiKey, type Protocol, protocols, repeat, usage } from './fake-server/protocols.ts'
import { createRunner, run, turnTo } from './fake-server/runners.ts'

// Loading takes as long as many turns, and is no part of what any of these tests measures.
before(() => Promise.all([import('ai'), import('@ai-sdk/openai'), import('@ai-sdk/google')]))

const [openai] = protocols as [Protocol]

runnerConformance({
  name: 'the ai runner conforms',
  plugin: new URL('./index.ts', import.meta.url),
  secrets: [apiKey, 'secret-of-a-header'],
  async create() {
    const server = await startCaptureServer(repeat(openai))
    const more = { headers: { 'x-team': 'secret-of-a-header' } }
    const runner = createRunner(server.url, more, { model: `openai/${openai.model}` })
    return {
      runner,
      stall: () => server.play('hang'),
      async stallMidway() {
        const half = openai.events(['Half', ' of it']).slice(0, -3)
        server.play(stream(half, 'hang'))
        await server.untilHanging()
      },
      fail: () =>
        server.play(
          refuse(401, {
            error: { message: `No key ${apiKey}, secret-of-a-header.`, code: 'invalid_api_key' },
          }),
        ),
      outages: {
        'expired key': () => server.play(refusal(401, 'invalid_api_key')),
        'key without the right': () => server.play(refusal(403, 'permission_denied')),
        'quota used up': () => server.play(refusal(429, 'insufficient_quota')),
        'bill not paid': () => server.play(refusal(402, 'payment_required')),
        'provider down': () => server.play(refusal(503, 'server_error')),
        'proxy’s page': () => server.play(refuse(502, '<html>Bad gateway</html>')),
        'network down': () => server.play('cut'),
      },
      ownFailures: {
        'prompt too long': () => server.play(refusal(400, 'context_length_exceeded')),
        'prompt refused': () => server.play(refusal(400, 'content_filter')),
        'wrong value': () => server.play(refusal(400, 'invalid_value')),
        'model unknown': () => server.play(refusal(404, 'model_not_found')),
      },
      close: server.close,
    }
  },
})

function refusal(status: number, code: string) {
  return refuse(status, { error: { message: `It said ${code}.`, code } })
}

async function open(t: TestContext, protocol: Protocol): Promise<CaptureServer> {
  const server = await startCaptureServer(repeat(protocol))
  atEnd(t, () => server.close())
  return server
}

for (const protocol of protocols) {
  const { name } = protocol

  test(`${name}: a reply comes with its usage and the model that the vendor names`, async (t) => {
    const server = await open(t, protocol)
    server.play(stream(protocol.events(['One, ', 'two', '.'])))
    const result = await run(createRunner(server.url), turnTo(protocol))
    const versions = {
      openai: 'gpt-5.2-2025-12-11',
      chat: 'gpt-5.2-2025-12-11',
      anthropic: 'claude-sonnet-4-6-20260217',
      google: 'gemini-2.5-flash-002',
      local: 'gpt-5.2-2025-12-11',
    }
    const { reasoningTokens: _, ...withoutThinking } = usage
    assert.deepEqual(result, {
      reply: 'One, two.',
      // Anthropic counts thinking with the rest.
      usage: name === 'anthropic' ? withoutThinking : usage,
      model: `${name}/${versions[name as keyof typeof versions]}`,
    })
    assert.deepEqual(
      server.asked.map(({ path }) => path),
      [protocol.path],
    )
    assert.equal(JSON.stringify(server.asked[0]?.body).includes(protocol.model), name !== 'google')
  })

  test(`${name}: system prompt, earlier turns and prompt are sent where the vendor expects them, beginning with the user`, async (t) => {
    const server = await open(t, protocol)
    const assistant = name === 'google' ? 'model' : 'assistant'
    const given = [
      ['assistant', 'Before.'],
      ['user', 'First.'],
      ['user', 'And second.'],
      ['assistant', 'Third.'],
      ['assistant', ' \n'],
      ['user', 'Fourth.'],
      ['assistant', ''],
    ] as const
    const history = given.map(([role, text], at) => ({ role, text, at }))
    const turn = turnTo(protocol, { systemPrompt: 'Be brief.', history, prompt: 'Fifth.' })
    await run(createRunner(server.url), turn)
    const [asked] = server.asked
    assert.ok(asked)
    const [system, ...rest] = protocol.messages(asked)
    assert.ok(['system', 'developer'].includes(system?.[0] ?? ''))
    assert.equal(system?.[1], 'Be brief.')
    assert.deepEqual(rest, [
      ['user', '…'],
      [assistant, 'Before.'],
      ['user', 'First.\n\nAnd second.'],
      [assistant, 'Third.'],
      ['user', 'Fourth.\n\nFifth.'],
    ])
  })

  test(`${name}: the key and the configured headers are sent, to the configured address`, async (t) => {
    const server = await open(t, protocol)
    await run(createRunner(server.url, { headers: { 'x-team': 'blue' } }), turnTo(protocol))
    const headers = server.asked[0]?.headers
    const own = { anthropic: headers?.['x-api-key'], google: headers?.['x-goog-api-key'] }
    assert.equal(own[name as keyof typeof own] ?? headers?.authorization?.replace('Bearer ', ''), apiKey)
    assert.equal(headers?.['x-team'], 'blue')
  })

  for (const [where, script] of [
    ['before the first byte', 'hang'],
    ['in the middle of an answer', stream(protocol.events(['Half']).slice(0, -1), 'hang')],
  ] as const)
    test(`${name}: a stall ${where} ends with the signal and closes the socket`, async (t) => {
      const server = await open(t, protocol)
      server.play(script)
      const abort = new AbortController()
      const failing = failureOf(run(createRunner(server.url), turnTo(protocol), { signal: abort.signal }))
      await server.untilHanging()
      abort.abort(new Error('its time was over'))
      const error = await failing
      assert.deepEqual([error.code, error.retryable], ['aborted', true])
      assert.equal((error.cause as Error).message, 'its time was over')
      await server.untilIdle()
    })
}

test('heartbeats and compactions are sent like runs', async (t) => {
  const server = await open(t, openai)
  for (const kind of ['heartbeat', 'compaction'] as const) {
    const events = kind === 'heartbeat' ? [{ id: 'e', text: 'Raw.', at: 1 }] : []
    const result = await run(createRunner(server.url), turnTo(openai, { kind, events, prompt: `A ${kind}.` }))
    assert.equal(result.reply, `A ${kind}.`)
  }
  assert.ok(!JSON.stringify(server.asked).includes('Raw.'), 'a heartbeat’s prompt already holds its events')
})

test('closing the plugin ends its turns', async (t) => {
  const server = await open(t, openai)
  server.play('hang')
  const closing = new AbortController()
  const { createAiRunner } = await import('./runner.ts')
  const providers = { openai: { apiKey, ...openai.config(server.url) } }
  const runner = createAiRunner({ config: { providers }, fetch, signal: closing.signal })
  const failing = failureOf(run(runner, turnTo(openai)))
  await server.untilHanging()
  closing.abort(new Error('closed'))
  assert.deepEqual([(await failing).code, (await failing).retryable], ['aborted', true])
})

test('without a model in the turn the configured one is asked, and without any the turn fails', async (t) => {
  const server = await open(t, openai)
  const turn = turnTo(openai, { model: undefined })
  const result = await run(
    createRunner(server.url, {}, { model: 'chat/gpt-5.2' }),
    turnTo(openai, { model: 'openai/x' }),
  )
  assert.ok(result.model?.startsWith('openai/'))
  await run(createRunner(server.url, {}, { model: 'openai/gpt-5.2' }), turn)
  assert.equal(server.asked[1]?.body.model, 'gpt-5.2')
  const error = await failureOf(run(createRunner(server.url), turn))
  assert.deepEqual([error.code, error.retryable], ['no-model', false])
  assert.match(error.message, /agents\.defaults\.model/)
  assert.equal(server.asked.length, 2)
})

test('a model’s own name may hold slashes and colons', async (t) => {
  const local = protocols.find(({ name }) => name === 'local')
  assert.ok(local)
  const server = await open(t, local)
  await run(createRunner(server.url), turnTo(local, { model: 'local/org/model:8b' }))
  assert.equal(server.asked[0]?.body.model, 'org/model:8b')
})

test('settings and provider options are sent, and an ignored setting is reported once', async (t) => {
  const server = await open(t, openai)
  const config = { maxOutputTokens: 500, temperature: 0.3 }
  const runner = createRunner(server.url, { options: { store: false } }, config)
  const result = await run(runner, turnTo(openai))
  const body = server.asked[0]?.body
  assert.deepEqual([body.max_output_tokens, body.store, body.temperature], [500, false, undefined])
  assert.deepEqual(result.warnings, [
    'openai ignored the setting `temperature`: temperature is not supported for reasoning models.',
  ])
})

test('the SDK writes nothing to standard error, neither warnings nor failures', async (t) => {
  const warned = t.mock.method(process, 'emitWarning', () => {})
  const logged = t.mock.method(console, 'error', () => {})
  const server = await open(t, openai)
  await run(createRunner(server.url, {}, { temperature: 1 }), turnTo(openai))
  server.play(refuse(500, {}))
  await failureOf(run(createRunner(server.url), turnTo(openai)))
  assert.deepEqual([warned.mock.callCount(), logged.mock.callCount()], [0, 0])
})

test('listeners to the SDK’s telemetry receive nothing of a turn', async (t) => {
  const heard: string[] = []
  const listener = { onStart: () => heard.push('start'), onEnd: () => heard.push('end') }
  globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = [listener as object]
  atEnd(t, () => {
    globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined
  })
  const server = await open(t, openai)
  await run(createRunner(server.url), turnTo(openai))
  assert.deepEqual(heard, [])
})

test('no progress is reported after the turn is aborted, even if more of the answer arrives', async (t) => {
  const server = await open(t, openai)
  server.play(stream(openai.events(['One', ' two', ' three', ' four'])))
  const abort = new AbortController()
  const reported: Progress[] = []
  const onProgress = (progress: Progress) => {
    reported.push(progress)
    if (progress.text !== undefined) abort.abort()
  }
  const error = await failureOf(
    run(createRunner(server.url), turnTo(openai), { signal: abort.signal, onProgress }),
  )
  assert.equal(error.code, 'aborted')
  assert.deepEqual(reported, [{ note: 'thinking' }, { text: 'One' }])
})
