/** Tests that a gateway works with each kind of plugin that `reveille init plugin` writes, given its folder and no kit. */

import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type FakeServerRequest, type FakeVendor, openFakeServer } from '../plugins/kit/fake-server/index.ts'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'
import type { RunRecord } from '../runtime/store/port.ts'
import { atEnd } from './at-end.ts'
import { gatewayToken, hookToken, install, until } from './installation.ts'

const settings = (folder: string) => `plugins: [${JSON.stringify(folder)}]
gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { format: json } }
hooks: { enabled: true, token: ${hookToken} }
`

async function scaffold(t: TestContext, kind: string): Promise<string> {
  const { cwd, run } = await createCommandLine(t, {})
  const written = await run('init', 'plugin', kind, 'crier')
  assert.equal(written.code, 0, written.err)
  return join(cwd, 'crier')
}

/** Serves JSON to clients with the token. */
async function openService(t: TestContext, answer: (request: FakeServerRequest) => object): Promise<string> {
  const server = await openFakeServer({
    answer(request) {
      const isKnown = request.headers['authorization'] === 'Bearer crier-token-0123'
      return { status: isKnown ? 200 : 401, body: answer(request) }
    },
  })
  atEnd(t, server.close)
  return server.url
}

test('a gateway delivers through a custom channel, and parks messages that the service refuses', async (t) => {
  const folder = await scaffold(t, 'channel')
  const { openVendor } = await import(pathToFileURL(join(folder, 'fake-server.js')).href)
  const vendor: FakeVendor = await openVendor()
  atEnd(t, () => vendor.close())
  await rm(join(folder, 'node_modules'), { recursive: true })
  const channel = JSON.stringify({ ...vendor.config, defaultTo: vendor.to })
  const { post, ended, read } = await install(t, {
    'reveille.yaml': `${settings(folder)}channels: { crier: ${channel} }\n`,
  })
  const { body } = await post('/hooks/agent', { message: 'Tea for @mayor!', channel: 'crier' })
  await ended(body['runId'])
  assert.equal(vendor.messages.length, 1)
  assert.equal(vendor.messages[0]?.to, 'team')
  assert.match(vendor.messages[0]?.text ?? '', /Tea for @\S*mayor!/)

  vendor.always({ kind: 'answer', answer: vendor.refusals.forbidden })
  const refused = await post('/hooks/agent', { message: 'Tea!', channel: 'crier', to: 'room:harbour' })
  const parked = await until(async () => {
    const { items } = await read<{ items: readonly Record<string, unknown>[] }>('/api/deliveries')
    return items.find(({ runId, state }) => runId === refused.body['runId'] && state === 'parked')
  }, 'a parked delivery')
  assert.match(JSON.stringify(parked), /crier answered with 403 \(muted\)\./)
})

test('a gateway asks a runner of its own, with the turns before', async (t) => {
  const folder = await scaffold(t, 'runner')
  await rm(join(folder, 'node_modules'), { recursive: true })
  const url = await openService(t, ({ json }) => {
    const { messages } = json as { messages: readonly unknown[] }
    return { text: `Very good: ${messages.length} so far.` }
  })
  const runner = `{ kind: crier, url: "${url}", token: crier-token-0123 }`
  const { post, ended } = await install(t, {
    'reveille.yaml': `${settings(folder)}agents: { defaults: { runner: crier }, runners: { crier: ${runner} } }\n`,
  })
  for (const messages of [1, 3]) {
    const { body } = await post('/hooks/agent', { message: 'Tea?', sessionKey: 'hook:tea', deliver: false })
    const run = await ended(body['runId'])
    assert.deepEqual([run.state, run.reply], ['succeeded', `Very good: ${messages} so far.`])
  }
})

test('each event of a source of its own causes one run, and its token stays out of the log', async (t) => {
  const folder = await scaffold(t, 'source')
  await rm(join(folder, 'node_modules'), { recursive: true })
  const events = [
    { number: 1, text: 'High water at noon' },
    { number: 2, text: 'Storm surge' },
  ]
  const url = await openService(t, ({ query }) =>
    events.filter(({ number }) => number > Number(query.get('after'))),
  )
  const installed = await install(t, {
    'reveille.yaml': `${settings(folder)}sources: { crier: { url: "${url}", token: crier-token-0123, everySeconds: 1 } }\n`,
    'mappings/crier.yaml':
      'mappings: [{ match: { path: crier }, message: "It warns: {{text}}", dedupe: { key: "{{number}}" } }]\n',
  })
  const arrived = (count: number) =>
    until(async () => {
      const { items } = await installed.read<{ items: { id: string }[] }>('/api/runs')
      const runs = await Promise.all(items.map(({ id }) => installed.read<RunRecord>(`/api/runs/${id}`)))
      const replies = runs.flatMap(({ kind, state, reply }) =>
        kind === 'run' && state === 'succeeded' ? [String(reply)] : [],
      )
      return replies.length >= count ? replies : undefined
    }, `the replies of ${count} runs`)
  assert.equal((await arrived(2)).length, 2)
  await installed.line('source-working')
  events.push({ number: 3, text: 'Low water at six' })
  const all = await arrived(3)
  for (const { text } of events) assert.equal(all.filter((reply) => reply.includes(text)).length, 1, text)
  assert.equal(all.length, 3)
  assert.doesNotMatch(installed.log(), /crier-token-0123/)
})

test('a source of its own is connected as the page says, by options or by answers', async (t) => {
  const page = await readFile(join(import.meta.dirname, '../docs/writing-plugins.md'), 'utf8')
  const [, section = ''] = page.split('### A setup command')
  const blockOf = (language: string) =>
    new RegExp(`\n\`\`\`${language}\n(.*?)\n\`\`\``, 's').exec(section)?.[1] ?? ''
  const { cwd, run } = await createCommandLine(t, { 'reveille.yaml': '# Ours.\nplugins: [./crier]\n' })
  assert.equal((await run('init', 'plugin', 'source', 'crier')).code, 0)
  const folder = join(cwd, 'crier')
  const change = async (name: string, edit: (text: string) => string) =>
    writeFile(join(folder, name), edit(await readFile(join(folder, name), 'utf8')))
  await change('package.json', (text) => text.replace('"sources"', '"setup": "./setup.json", "sources"'))
  await change('config.schema.json', (text) => text.replace('["url", "token"]', '["url"]'))
  await change('index.js', (text) => text.replace("name: 'crier',", `name: 'crier',\n${blockOf('js')}`))
  await writeFile(join(folder, 'setup.json'), blockOf('json'))

  for (const [words, code, says] of [
    [['connect', 'crier'], 2, /Name the town: --town NAME/],
    [['connect', 'crier', '--town', '7'], 2, /It must be a name\./],
    [['connect', 'cryer'], 2, /names cryer, and there is no such source; did you mean `crier`/],
    [['disconnect', 'crier'], 2, /asks crier, whose API has no list|no such provider/],
  ] as const) {
    const refused = await run(...words)
    assert.equal(refused.code, code, refused.err)
    assert.match(refused.err, says)
  }
  const { code, out, err } = await run('connect', 'crier', '--town', 'harbour')
  assert.equal(code, 0, err)
  assert.match(err, /✓ consent +The crier of harbour may be heard\./)
  assert.match(out, /^The crier of harbour is set up\./)
  const text = await readFile(join(cwd, 'reveille.yaml'), 'utf8')
  assert.match(
    text,
    /^# Ours\.\nplugins: \[\.\/crier\]\n+sources:\n {2}crier:\n {4}url: https:\/\/harbour\.example\n/,
  )
  const stored = await readFile(join(cwd, 'data/sources/crier/credentials.json'), 'utf8')
  assert.match(stored, /token-of-harbour/)
  assert.doesNotMatch(`${out}${err}${text}`, /token-of-harbour/)
})
