import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** This program runs in its own process. It prints, for each step, which of Google's packages are loaded by then. */
const probe = `
import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({
  load(url, context, next) {
    const found = /node_modules\\/(@googleapis\\/gmail|google-auth-library|gaxios|node-fetch|https-proxy-agent)\\//.exec(url)
    if (found) loaded.add(found[1])
    return next(url, context)
  },
})
const steps = []
const step = (name) => steps.push([name, [...loaded].sort()])
const [plugin, watch, google] = process.argv.slice(1)
Object.assign(process.env, { HTTPS_PROXY: 'http://127.0.0.1:1', GOOGLE_SDK_NODE_LOGGING: 'all' })

const { default: source } = await import(plugin)
step('import')
const baseUrls = Object.fromEntries(['accounts', 'oauth', 'gmail', 'pubsub'].map((name) => [name, 'http://127.0.0.1']))
const fetch = async () => Response.json({ access_token: 'a', expires_in: 1, emailAddress: 'a@b', historyId: '1' })
const config = { account: 'a@b', baseUrls }
source.setup({ config, fetch, log: {}, signal: new AbortController().signal })
step('setup')
await import(watch)
step('watch')
const { openGoogle } = await import(google)
const storage = { read: async () => undefined, write: async () => undefined }
const credentials = { account: 'a@b', clientId: 'c', refreshToken: 'r', scopes: [] }
const { gmail } = openGoogle({ credentials, storage, baseUrls, fetch, clock: { now: Date.now } })
await gmail.profile(new AbortController().signal)
step('open')
console.log(JSON.stringify(steps))
`

test("Google's libraries are loaded when Google is opened, bring no HTTP client of their own, and print nothing", async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const files = ['../index.ts', '../watch/index.ts', './open.ts'].map(
    (file) => new URL(file, import.meta.url).href,
  )
  const args = ['--input-type=module', '--eval', probe, ...files]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 60_000, env })
  assert.equal(stderr, '')
  assert.deepEqual(JSON.parse(stdout), [
    ['import', []],
    ['setup', []],
    ['watch', []],
    ['open', ['@googleapis/gmail', 'gaxios', 'google-auth-library']],
  ])
})
