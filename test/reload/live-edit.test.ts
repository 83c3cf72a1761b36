/** Tests that edits go live under load whole, in order and without affecting a request. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { gatewayToken, hookToken, type Installation, install, until } from '../installation.ts'

const limit = { timeout: 60_000 }

/** Mapping and settings carry the same mark, so that a mix of two generations would show. */
function marked(mark: number, token = hookToken): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks:
  enabled: true
  reload: { rest: 1ms }
  token: ${token}
  mappings:
    - id: mapping-${mark}
      match: { path: build }
      name: name-${mark}
      sessionKey: "hook:${mark}:{{number}}"
      message: "Build {{number}} of mark ${mark}"
      deliver: false
      wakeMode: next-heartbeat
agents: { defaults: { timeoutSeconds: ${1000 + mark} } }
`
}

function markOf({ mapping, name, message, sessionKey, timeoutSeconds }: RunRecord): number {
  const marks = [
    /^mapping-(\d+)$/.exec(String(mapping)),
    /^name-(\d+)$/.exec(String(name)),
    /^Build \d+ of mark (\d+)$/.exec(message),
    /^hook:(\d+):\d+$/.exec(sessionKey),
  ].map((found) => Number(found?.[1]))
  assert.equal(new Set([...marks, timeoutSeconds - 1000]).size, 1, `one mark in ${marks} ${timeoutSeconds}`)
  return timeoutSeconds - 1000
}

function becomes({ gateway }: Installation, generation: number): Promise<true> {
  return until(
    () => gateway.current().generation >= generation || undefined,
    `generation ${generation}`,
  ) as Promise<true>
}

test(
  'an edit of a mapping file is live a moment later, and requests, runs and lists name the generation',
  limit,
  async (t) => {
    const mapping = (text: string) =>
      `mappings:\n  - match: { path: bell }\n    action: wake\n    text: "${text}"\n`
    const installed = await install(t, { 'mappings/bell.yaml': mapping('one') }, { watch: true })
    const { post, read, write, line } = installed
    const ring = async () => {
      const { body } = await post('/hooks/bell', {})
      const [request, event] = await Promise.all([
        read<RequestRecord>(`/api/requests/${body['requestId']}`),
        read<{ text: string; generation: number }>(`/api/events/${body['eventId']}`),
      ])
      return [request.generation, event.generation, event.text]
    }
    assert.deepEqual(await ring(), [1, 1, 'one'])
    await write('mappings/bell.yaml', mapping('two'))
    await becomes(installed, 2)
    assert.deepEqual(await ring(), [2, 2, 'two'])
    assert.deepEqual((await line('snapshot-swapped', ({ generation }) => generation === 2))['mappings'], 1)

    await write('mappings/more/late.yaml', mapping('three').replace('bell', 'late'))
    await becomes(installed, 3)
    assert.equal((await post('/hooks/late', {})).status, 200)
  },
)

test(
  'a broken edit changes nothing and is reported with its place, and the fixed file goes live',
  limit,
  async (t) => {
    const mapping = (text: string) => `mappings:\n  - match: { path: bell }\n    message: ${text}\n`
    const installed = await install(t, { 'mappings/bell.yaml': mapping('good') }, { watch: true })
    const { post, write, line, gateway, read } = installed
    const broken: [string, string, RegExp][] = [
      [mapping('"{{#if x}}"'), '3:15', /TEMPLATE/],
      [mapping('"{% $sum( %}"'), '3:', /EXPRESSION/],
      ['mappings:\n  - mesage: x\n', '2:5', /UNKNOWN_KEY/],
      ['mappings: [\n', '', /YAML/],
    ]
    for (const [content, place, code] of broken) {
      await write('mappings/bell.yaml', content)
      const reported = await line('diagnostic', (line) => code.test(String(line['code'])))
      const { file, line: row, column, msg, level } = reported
      assert.equal(file, `${installed.folder}/mappings/bell.yaml`)
      assert.ok(`${row}:${column}`.startsWith(place), `${row}:${column}`)
      assert.ok(String(msg).includes(`${file}:${row}:${column}: error: `), String(msg))
      assert.equal(level, 50)
      assert.equal((await post('/hooks/bell', {})).status, 202)
    }
    assert.equal(gateway.current().generation, 1)
    await write('mappings/bell.yaml', mapping('fixed'))
    await becomes(installed, 2)
    const { body } = await post('/hooks/bell', {})
    assert.equal((await read<RunRecord>(`/api/runs/${body['runId']}`)).message, 'fixed')
  },
)

test('a request in flight ends on the generation that it started with', limit, async (t) => {
  const installed = await install(t, { 'reveille.yaml': marked(1) }, { watch: true })
  const { gateway, write, post, read } = installed
  const { port } = new URL(await gateway.listen())
  const socket = connect({ host: '127.0.0.1', port: Number(port) })
  atEnd(t, () => socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  const received = async (part: string) => {
    while (!text.includes(part)) await once(socket, 'data')
  }
  const body = '{"number": 1}'
  socket.write(
    `POST /hooks/build HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hookToken}\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await received('100 Continue')
  await write('reveille.yaml', marked(2, 'another-token'))
  await becomes(installed, 2)
  assert.equal((await post('/hooks/build', { number: 2 })).status, 401, 'the old token is good no more')

  socket.write(body)
  await received('"requestId"')
  assert.match(text, /HTTP\/1\.1 202 /)
  const runId = /"runId":"([^"]+)"/.exec(text)?.[1]
  const run = await read<RunRecord>(`/api/runs/${runId}`)
  assert.deepEqual([run.generation, markOf(run)], [1, 1])
  const request = await read<RequestRecord>(`/api/requests/${run.requestId}`)
  assert.deepEqual([request.generation, request.mapping], [1, 'mapping-1'])
})
