import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createCommandLine } from '../io-fixture.ts'

const token = 'test-gateway-token-0123456789abc'
const at = Date.UTC(2026, 2, 2, 12)

const request = (id: string, fields: object = {}) => ({
  id: `0196f0aa-0000-7000-8000-00000000000${id}`,
  endpoint: 'github',
  outcome: 'accepted',
  status: 202,
  mapping: 'review',
  generation: 1,
  receivedAt: at,
  bodyBytes: 2,
  timings: {},
  actions: [],
  ...fields,
})

const trace = {
  candidates: ['review', 'triage', 'release', 'nightly'].map((mapping) => ({
    mapping,
    place: 'a.yaml:1:1',
    verdict: 'failed',
    clause: { path: 'match.body.action', expected: '"opened"', actual: '"clo\u202esed"' },
  })),
}

/** A gateway whose stream the test writes to. */
async function open(t: TestContext) {
  const connections: { readonly response: ServerResponse; readonly lastId: string | undefined }[] = []
  let arrived: () => void = () => {}
  const server = createServer((incoming, response) => {
    if (incoming.headers.authorization !== `Bearer ${token}`) response.writeHead(401).end('{"ok":false}')
    else if (incoming.url === '/api/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      connections.push({ response, lastId: incoming.headers['last-event-id'] as string | undefined })
      arrived()
    } else if (incoming.url?.startsWith('/api/requests/'))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ trace }))
    else response.writeHead(404).end('{"ok":false,"error":"There is no such address."}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const env = {
    REVEILLE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    REVEILLE_GATEWAY_TOKEN: token,
  }
  const commandLine = await createCommandLine(t, {}, { env, fetch })
  return {
    ...commandLine,
    env,
    connections,
    async connection(number: number) {
      while (connections.length < number) await new Promise<void>((resolve) => (arrived = resolve))
      return connections[number - 1] as (typeof connections)[number]
    },
  }
}

function frame(response: ServerResponse, id: string, data: object, event = 'frame'): void {
  response.write(`: still here\n\nevent: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
}

test('each request is one line, with the clauses because of which an ignored one did nothing', async (t) => {
  const { start, connection } = await open(t)
  const running = start('tail')
  const { response } = await connection(1)
  frame(response, 'a', {
    requests: [
      request('1'),
      request('2', { outcome: 'ignored', status: 200, mapping: undefined, reason: 'no mapping matched' }),
    ],
    skipped: 3,
  })
  const shown = await running.until(/3 more requests/)
  assert.match(shown, /accepted +\/github matched review/)
  assert.match(shown, /ignored +\/github +no mapping matched/)
  assert.match(shown, /✗ review\n +match\.body\.action +expected +"opened"\n +found +"clo sed"/)
  assert.match(shown, /and 1 more mapping/)
  assert.equal((await running.stop()).code, 0)
})

test('filters leave other requests out, and --json writes records', async (t) => {
  const { start, connection } = await open(t)
  const running = start('tail', '--endpoint', 'github', '--ignored', '--json')
  const { response } = await connection(1)
  const ignored = request('3', { outcome: 'ignored' })
  frame(response, 'a', {
    requests: [request('1'), request('2', { endpoint: 'stripe', outcome: 'ignored' }), ignored],
  })
  await running.until(/\n/)
  const { out } = await running.stop()
  assert.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [ignored],
  )
})

test('a connection that is lost is made again, from the last event on', async (t) => {
  const { start, connection } = await open(t)
  const running = start('tail')
  const first = await connection(1)
  frame(first.response, 'cursor-7', { requests: [request('1')] })
  await running.until(/accepted/)
  first.response.destroy()
  const second = await connection(2)
  assert.deepEqual([first.lastId, second.lastId], [undefined, 'cursor-7'])
  frame(second.response, 'cursor-8', {}, 'gap')
  frame(second.response, 'cursor-9', { requests: [request('2')] })
  const shown = await running.until(/Connected again[\s\S]*accepted/)
  assert.match(shown, /is gone; trying again in 1 s/)
  assert.match(shown, /Some requests are missing/)
  await running.stop()
})

test('a wrong token and a gateway that is not there end the command', async (t) => {
  const { run, env } = await open(t)
  env.REVEILLE_GATEWAY_TOKEN = 'wrong'
  const refused = await run('tail')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /refused the token/)
  env.REVEILLE_URL = 'http://127.0.0.1:1'
  const absent = await run('tail')
  assert.equal(absent.code, 1)
  assert.match(absent.err, /No gateway answers/)
})

test('events are read however their bytes are cut, and their line ends written', async (t) => {
  const { start, connection } = await open(t)
  const running = start('tail', '--json')
  const { response } = await connection(1)
  const bytes = Buffer.from(
    `: hello\r\n\r\nevent: frame\r\nid: 1\r\ndata: {"requests":\r\ndata: [{"id":"ä"}]}\r\n\r\n`,
  )
  for (const byte of bytes) response.write(Uint8Array.of(byte))
  assert.match(await running.until(/\n/), /^\{"id":"ä"\}\n$/)
  await running.stop()
})
