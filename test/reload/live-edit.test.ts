/** Tests that edits go live under load whole, in order and without affecting a request. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { Page, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createSender } from '../durability/sender.ts'
import { gatewayToken, hookToken, type Installation, install, until } from '../installation.ts'

const limit = { timeout: 20_000 }

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

async function all<Item>({ read }: Installation, list: string): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor = ''; ; ) {
    const page = await read<Page<Item>>(`/api/${list}?limit=500${cursor}`)
    items.push(...page.items)
    if (page.next === undefined) return items
    cursor = `&cursor=${page.next}`
  }
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

test('20 good and bad edits under load fail no request and mix no generations', limit, async (t) => {
  const installed = await install(t, { 'reveille.yaml': marked(0) }, { watch: true })
  const { gateway, write, lines } = installed
  const url = await gateway.listen()
  let number = 0
  const next = () => ({ path: '/hooks/build', body: { number: ++number } })
  const sender = createSender({ url, token: hookToken, connections: 4, next })
  atEnd(t, () => sender.stop())

  const markByGeneration = new Map([[1, 0]])
  for (let edit = 1; edit <= 20; edit += 1) {
    await sender.answered()
    if (edit % 2 === 0) {
      const bad = marked(edit).replace('{{number}}', edit % 4 === 0 ? '{{number' : '{{#each}}')
      const before = lines('candidate-rejected').length
      await write('reveille.yaml', bad)
      await until(() => lines('candidate-rejected').length > before || undefined, `refusal of edit ${edit}`)
    } else {
      const generation = gateway.current().generation + 1
      await write('reveille.yaml', marked(edit))
      await becomes(installed, generation)
      markByGeneration.set(generation, edit)
    }
  }
  await sender.answered()
  await sender.stop()

  assert.deepEqual(sender.unexpected, [])
  assert.equal(gateway.current().generation, 11)
  const requests = await all<RequestRecord>(installed, 'requests')
  assert.deepEqual([...new Set(requests.map(({ outcome }) => outcome))], ['accepted'])
  assert.equal(requests.length, sender.acknowledged.length)
  const generations = new Map(requests.map(({ id, generation }) => [id, generation]))
  const runs = new Map((await all<RunRecord>(installed, 'runs')).map((run) => [run.id, run]))
  for (const { requestId, runId } of sender.acknowledged) {
    const run = runs.get(String(runId))
    assert.ok(run)
    assert.equal(markOf(run), markByGeneration.get(run.generation), `generation ${run.generation}`)
    assert.equal(generations.get(requestId), run.generation)
  }
  const served = new Set([...runs.values()].map(({ generation }) => generation))
  assert.equal(served.size, 11, 'each generation served')
  t.diagnostic(`${runs.size} requests over ${served.size} generations`)
})
