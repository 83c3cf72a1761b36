import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { atEnd } from '../at-end.ts'
import { fire } from './client.ts'

test('a burst sends as many requests as it is asked for, with bodies that take turns', async (t) => {
  const seen: string[] = []
  const url = await serve(t, async (request, response) => {
    seen.push(`${request.method} ${request.url} ${await text(request)}`)
    response.end('{"ok":true}')
  })
  const { requests } = await fire(
    { url, headers: {}, bodies: ['one', 'two'] },
    { connections: 3, requests: 10 },
  )
  assert.equal(requests, 10)
  assert.deepEqual(seen.sort(), [
    ...Array(5).fill('POST /hooks/wake one'),
    ...Array(5).fill('POST /hooks/wake two'),
  ])
})

test('a reply ends where its length or its last chunk says', async (t) => {
  const replies: RequestListener[] = [
    (_request, response) => response.end('whole'),
    (_request, response) => {
      response.write('in chunks ')
      setImmediate(() => response.end('of two'))
    },
    (_request, response) => {
      response.writeHead(200, { 'content-length': 6 })
      response.write('hal')
      setImmediate(() => response.end('ves'))
    },
  ]
  let next = 0
  const url = await serve(t, (request, response) => replies[next++ % replies.length]?.(request, response))
  const { requests } = await fire({ url, headers: {}, bodies: ['x'] }, { connections: 1, requests: 9 })
  assert.equal(requests, 9)
  assert.equal(next, 9)
})

test('an answer that is no 2xx, and a connection that ends, end the burst with an error that shows the answer', async (t) => {
  const refusing = await serve(t, (_request, response) => response.writeHead(401).end('no such token'))
  await assert.rejects(
    fire({ url: refusing, headers: {}, bodies: ['x'] }, { connections: 1, requests: 2 }),
    /401[\s\S]*no such token/,
  )
  const closing = await serve(t, (request) => request.socket.destroy())
  await assert.rejects(
    fire({ url: closing, headers: {}, bodies: ['x'] }, { connections: 1, requests: 2 }),
    /closed a connection|ECONNRESET/,
  )
})

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/wake`
}

async function text(request: AsyncIterable<unknown>): Promise<string> {
  let whole = ''
  for await (const part of request) whole += part
  return whole
}
