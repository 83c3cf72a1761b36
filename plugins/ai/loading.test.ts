import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** Runs in a process of its own; prints, for each step, the packages of the SDK that it has loaded. */
const probe = `
import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({
  load(url, context, next) {
    const found = /node_modules\\/((?:@ai-sdk\\/)?[^/]+)\\/dist\\//.exec(url)
    if (found) loaded.add(found[1])
    return next(url, context)
  },
})
const steps = []
const vendors = ['@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible', 'ai']
const step = (name) => steps.push([name, vendors.filter((each) => loaded.has(each))])
const listeners = process.eventNames().length

const { default: plugin } = await import(process.argv[1])
step('import')
const provider = { apiKey: 'key-of-the-vendor' }
const providers = {
  openai: provider,
  anthropic: provider,
  google: provider,
  local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1/v1' },
}
const fetch = async () => new Response('{}', { status: 500 })
const { signal } = new AbortController()
const { runners: [runner] } = await plugin.setup({ config: { providers }, fetch, signal })
runner.checkModel('openai/gpt-5')
step('setup')
for (const name of ['local', 'anthropic', 'google', 'openai']) {
  const turn = { kind: 'run', prompt: 'Hello.', history: [], events: [], model: name + '/model', attempt: 1 }
  await runner.run(turn, { signal }).catch((error) => { if (error.code !== 'unavailable') throw error })
  step(name)
}
console.log(JSON.stringify({ steps, listeners: process.eventNames().length - listeners }))
`

test('the SDK is loaded with the first turn, and a vendor’s package with the first turn that asks that vendor', async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--input-type=module', '--eval', probe, new URL('./index.ts', import.meta.url).href]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 60_000, env })
  assert.equal(stderr, '')
  const { steps, listeners } = JSON.parse(stdout)
  assert.deepEqual(steps, [
    ['import', []],
    ['setup', []],
    ['local', ['@ai-sdk/openai-compatible', 'ai']],
    ['anthropic', ['@ai-sdk/anthropic', '@ai-sdk/openai-compatible', 'ai']],
    ['google', ['@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai-compatible', 'ai']],
    ['openai', ['@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible', 'ai']],
  ])
  assert.equal(listeners, 0, 'no listener is left on the process')
})
