/** Tests the real `claude` and `codex`, started by the runner `command`, with a mock model on loopback. */

import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { callOf, open, turnOf, vendors } from './scene.ts'

for (const name of ['claude', 'codex'] as const) {
  const vendor = vendors[name]

  test(`${name} holds a conversation over two turns`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    const { runner, service } = scene
    const asked = { model: vendor.model, thinking: 'low', systemPrompt: 'You are terse.' }
    const first = await runner.run(turnOf('My cat is called Mitzi.', asked), callOf())
    assert.equal(first.reply, 'As you say.')
    assert.equal(first.warnings, undefined)
    assert.ok(first.state)
    const [request = {}] = service.requests
    assert.equal(request['model'], vendor.model.split('/')[1])
    assert.equal(vendor.thinking?.(request), 'low')
    assert.match(JSON.stringify(request), /You are terse\./)

    const second = await runner.run(turnOf('What is she called?', { ...asked, state: first.state }), callOf())
    assert.equal(second.reply, 'As you say.')
    assert.equal(second.warnings, undefined)
    const last = JSON.stringify(service.requests.at(-1))
    for (const said of ['called Mitzi', 'As you say.', 'is she called?']) assert.ok(last.includes(said), said)
    const usage = [first, second].map(({ usage }) => [usage?.inputTokens, usage?.outputTokens])
    assert.deepEqual(usage, [
      [100, 10],
      [100, 10],
    ])
  })

  test(`${name} begins a new conversation when the old one is gone, and warns about it`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    const { runner, home } = scene
    const { state } = await runner.run(turnOf('One.', { model: vendor.model }), callOf())
    await rm(path.join(home, name), { recursive: true })
    await mkdir(path.join(home, name))
    const result = await runner.run(turnOf('Two.', { model: vendor.model, state }), callOf())
    assert.equal(result.reply, 'As you say.')
    assert.match(result.warnings?.join() ?? '', /no longer had the conversation/)
  })

  test(`after ${name} is stopped in the middle of a turn, the next turn of the session succeeds`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    const stalled = scene.service.stall()
    const abort = new AbortController()
    const running = scene.runner.run(turnOf('One.', { model: vendor.model }), { signal: abort.signal })
    await stalled
    abort.abort()
    await assert.rejects(running, (error) => isPluginError(error) && error.code === 'aborted')
    scene.service.resume()
    const { reply } = await scene.runner.run(turnOf('Two.', { model: vendor.model }), callOf())
    assert.equal(reply, 'As you say.')
  })

  test(`${name} reports why the model refused`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    scene.service.refuse()
    await assert.rejects(scene.runner.run(turnOf('One.', { model: vendor.model }), callOf()), (error) => {
      assert.ok(isPluginError(error), String(error))
      assert.equal(error.code, 'exit')
      assert.match(error.message, /the model is on holiday/)
      return true
    })
  })
}
