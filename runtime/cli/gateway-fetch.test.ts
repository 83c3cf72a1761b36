import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createGatewayFetch, type GatewayFetch } from './gateway-fetch.ts'

const signal = new AbortController().signal
const none: GatewayFetch = () => assert.fail('fetch is not needed')

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('an answer has its status and its JSON, whatever the status says', async (t) => {
  const address = await serve(t, (asked, answer) => {
    answer.statusCode = asked.url === '/good' ? 200 : 409
    answer.end(JSON.stringify({ url: asked.url, token: asked.headers.authorization, word: 'é' }))
  })
  const ask = createGatewayFetch(none)
  const good = await ask(`${address}/good`, { headers: { authorization: 'Bearer x' }, signal })
  assert.deepEqual([good.ok, good.status], [true, 200])
  assert.deepEqual(await good.json(), { url: '/good', token: 'Bearer x', word: 'é' })
  const refused = await ask(`${address}/bad?limit=1`, { signal })
  assert.deepEqual([refused.ok, refused.status], [false, 409])
  assert.deepEqual(await refused.json(), { url: '/bad?limit=1', word: 'é' })
})

test('a body is sent with its length', async (t) => {
  const address = await serve(t, async (asked, answer) => {
    let text = ''
    for await (const chunk of asked) text += chunk
    answer.end(JSON.stringify([asked.method, asked.headers['content-length'], text]))
  })
  const sent = await createGatewayFetch(none)(address, { method: 'PUT', body: '{"é":1}', signal })
  assert.deepEqual(await sent.json(), ['PUT', '8', '{"é":1}'])
})

test('an answer that is no JSON rejects only when it is read as such', async (t) => {
  const address = await serve(t, (_asked, answer) => void answer.end('<html>'))
  const answer = await createGatewayFetch(none)(address, { signal })
  assert.equal(answer.status, 200)
  await assert.rejects(answer.json(), SyntaxError)
})

test('another scheme, and an answer that leads elsewhere, are left to fetch', async (t) => {
  const address = await serve(t, (_asked, answer) => void answer.writeHead(301, { location: '/' }).end())
  const followed: string[] = []
  const ask = createGatewayFetch(async (url) => {
    followed.push(url)
    return { ok: true, status: 200, body: null, json: async () => null, bytes: async () => new Uint8Array() }
  })
  await ask(`${address}/old`, { signal })
  await ask('https://gateway.example/api', { signal })
  assert.deepEqual(followed, [`${address}/old`, 'https://gateway.example/api'])
})

test('a gateway that is not there rejects, and one that is silent rejects with the reason of the signal', async (t) => {
  const ask = createGatewayFetch(none)
  await assert.rejects(ask('http://127.0.0.1:1/', { signal }), { code: 'ECONNREFUSED' })
  const late = new AbortController()
  const address = await serve(t, () => late.abort(new DOMException('late', 'TimeoutError')))
  await assert.rejects(ask(address, { signal: late.signal }), { name: 'TimeoutError' })
})

test('an answer that breaks off in the middle rejects', async (t) => {
  const address = await serve(t, (_asked, answer) => {
    answer.writeHead(200, { 'content-length': 100 }).write('{', () => answer.destroy())
  })
  await assert.rejects(createGatewayFetch(none)(address, { signal }), { code: 'ECONNRESET' })
})
