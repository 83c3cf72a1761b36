/** Clients of the stream: on a whole gateway over sockets, and on a store and a clock of the test's own. */

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { createMask } from '@reveille/engine'
import { atEnd } from '../../test/at-end.ts'
import { configuration, gatewayToken, type Installation, install, until } from '../../test/installation.ts'
import type { Change, RequestRecord } from '../store/port.ts'
import { createStream, type StreamOptions } from './stream.ts'

interface Message {
  readonly id?: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Splits what came into its messages, of one event if it is given. Comments have none. */
function messagesIn(text: string, event?: string): readonly Message[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => new Map(block.split('\n').map((line) => line.split(': ', 2) as [string, string])))
    .filter((fields) => fields.has('data'))
    .map((fields) => ({
      ...(fields.has('id') && { id: fields.get('id') }),
      event: fields.get('event') ?? 'message',
      data: JSON.parse(fields.get('data') ?? ''),
    }))
    .filter((message) => event === undefined || message.event === event)
}

interface Follower {
  readonly response: IncomingMessage
  readonly sent: ClientRequest
  text(): string
  messages(event?: string): readonly Message[]
  readonly ended: Promise<unknown>
}

async function follow(
  t: TestContext,
  address: string,
  headers: Record<string, string> = { authorization: `Bearer ${gatewayToken}` },
): Promise<Follower> {
  const sent = request(`${address}/api/stream`, { headers })
  atEnd(t, () => sent.destroy())
  sent.on('error', () => {})
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  response.on('error', () => {})
  return {
    response,
    sent,
    text: () => text,
    messages: (event) => messagesIn(text, event),
    ended: new Promise((resolve) => response.once('close', resolve)),
  }
}

async function listening(
  t: TestContext,
  yaml = configuration,
): Promise<Installation & { readonly address: string }> {
  const installed = await install(t, { 'reveille.yaml': yaml })
  return { ...installed, address: await installed.gateway.listen() }
}

/** The first message that passes. */
function message(
  { messages }: Follower,
  event: string,
  passes: (data: Message['data']) => boolean = () => true,
): Promise<Message> {
  return until(async () => messages(event).find(({ data }) => passes(data)), `an event ${event}`)
}

const rowsIn = (follower: Follower) =>
  follower.messages('frame').flatMap(({ data }) => data['requests'] as readonly RequestRecord[])

test('a client is greeted, and gets each request with its run, its events and its deliveries', async (t) => {
  const { address, post } = await listening(t)
  const follower = await follow(t, address)
  const { headers } = follower.response
  assert.match(String(headers['content-type']), /^text\/event-stream/)
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal((await message(follower, 'hello')).data['generation'], 1)
  const { body } = await post('/hooks/agent', { message: 'hello', wakeMode: 'next-heartbeat' })
  const runId = body['runId']
  await message(follower, 'frame', ({ runs }) =>
    (runs as readonly { id: string; stage: string }[]).some(
      (run) => run.id === runId && run.stage === 'delivered',
    ),
  )
  await post('/hooks/nowhere', {})
  await until(async () => rowsIn(follower).length >= 2 || undefined, 'both requests')
  assert.deepEqual(
    rowsIn(follower).map(({ outcome, endpoint }) => `${outcome} ${endpoint}`),
    ['accepted agent', 'refused nowhere'],
  )
  assert.doesNotMatch(follower.text(), /"body"|"head"/)
  const ids = follower.messages().map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
})

test('a reload is reported, whether it goes live or is refused', async (t) => {
  const { address, write, gateway } = await listening(t)
  const follower = await follow(t, address)
  await message(follower, 'hello')
  await write('reveille.yaml', `${configuration}history: { keep: 9d }\n`)
  await gateway.reload()
  await message(follower, 'frame', ({ generation }) => generation === 2)
  await write('reveille.yaml', 'hooks: [\n')
  await gateway.reload()
  await message(follower, 'frame', ({ generation, reload }) => generation === undefined && reload === true)
})

test('a client that reconnects gets the events that it missed, or learns that there is a gap', async (t) => {
  const { address, post } = await listening(t)
  const first = await follow(t, address)
  await post('/hooks/wake', { text: 'one', mode: 'next-heartbeat' })
  const seen = await message(first, 'frame')
  first.sent.destroy()
  await first.ended
  await post('/hooks/wake', { text: 'two', mode: 'next-heartbeat' })
  const authorization = `Bearer ${gatewayToken}`
  const again = await follow(t, address, { authorization, 'last-event-id': String(seen.id) })
  await until(async () => rowsIn(again).length >= 1 || undefined, 'the second request')
  assert.deepEqual([again.messages('hello'), again.messages('gap')], [[], []])
  for (const unknown of ['x', '0.1', `${seen.id}9`]) {
    const lost = await follow(t, address, { authorization, 'last-event-id': unknown })
    assert.equal((await message(lost, 'gap')).data['generation'], 1, unknown)
  }
})

test('a stream ends when the token that opened it is withdrawn, and when the gateway stops', async (t) => {
  const old = 'test-gateway-token-before-rotation'
  const both = configuration.replace(`token: ${gatewayToken}`, `token: [${gatewayToken}, ${old}]`)
  const { address, write, gateway } = await listening(t, both)
  const signedIn = await fetch(`${address}/api/session`, {
    method: 'POST',
    body: JSON.stringify({ token: old }),
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { key } = (await signedIn.json()) as { key: string }
  const kept = await follow(t, address)
  const ending = [
    await follow(t, address, { authorization: `Bearer ${old}` }),
    await follow(t, address, { cookie, 'x-reveille-key': key }),
  ]
  await write('reveille.yaml', configuration)
  assert.equal((await gateway.reload()).ok, true)
  await Promise.all(ending.map(({ ended }) => ended))
  await message(kept, 'frame', ({ generation }) => generation === 2)
  await gateway.close()
  await kept.ended
})

/** A response that holds what was written, and how much of it waits. */
class FakeResponse extends EventEmitter {
  text = ''
  writableLength = 0
  isDestroyed = false
  isEnded = false
  writeHead() {}
  write(chunk: Buffer | string) {
    this.text += chunk
    return true
  }
  end() {
    this.isEnded = true
    this.emit('close')
  }
  destroy() {
    this.isDestroyed = true
    this.emit('close')
  }
}

/** A stream on changes and a clock of the test's own. */
function createFixture() {
  let now = 1_000
  let reads = 0
  const due = new Map<number, { readonly at: number; readonly callback: () => void }>()
  let lastTimer = 0
  const waiting: Change[] = []
  let wake = () => {}
  let rows: readonly { readonly id: string }[] = []
  const admitted = new Set<object>()
  async function* changes({ signal }: { signal: AbortSignal }): AsyncGenerator<Change> {
    while (!signal.aborted) {
      const change = waiting.shift()
      if (change) yield change
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const options = {
    store: {
      changes,
      read: {
        requests: async ({ limit = 50 }: { limit?: number }) => {
          reads += 1
          return { items: rows.slice(0, limit) }
        },
      },
    },
    generation: () => 7,
    isDraining: () => false,
    mask: createMask(),
    admissionOf: (given: object) => () => admitted.has(given),
    now: () => now,
    timers: {
      setTimeout(callback: () => void, ms: number) {
        lastTimer += 1
        due.set(lastTimer, { at: now + ms, callback })
        return lastTimer
      },
      clearTimeout: (timer: unknown) => void due.delete(timer as number),
    },
  } as unknown as StreamOptions
  const stream = createStream(options)

  /** Lets everything happen that is due within the time. */
  async function pass(ms: number): Promise<void> {
    const end = now + ms
    for (;;) {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      const [next] = [...due]
        .filter(([, { at }]) => at <= end)
        .sort(([, one], [, other]) => one.at - other.at)
      if (next === undefined) break
      now = Math.max(now, next[1].at)
      due.delete(next[0])
      next[1].callback()
    }
    now = end
  }

  async function connect(seen?: string, name = String(Math.random())) {
    const response = new FakeResponse()
    const headers = seen === undefined ? {} : { 'last-event-id': seen }
    const given = { method: 'GET', admission: { name }, headers }
    admitted.add(given)
    const refusals: unknown[] = []
    const reply = {
      raw: response,
      type: () => reply,
      header: () => reply,
      hijack: () => reply,
      getHeader: () => 'minted',
      getHeaders: () => ({}),
      code: () => reply,
    }
    await stream.handlers
      .followStream({ request: given, reply } as never)
      .catch(({ code }) => refusals.push({ code }))
    return {
      response,
      refusals,
      withdraw: () => admitted.delete(given),
      messages: (event?: string) => messagesIn(response.text, event),
    }
  }

  return {
    stream,
    connect,
    pass,
    reads: () => reads,
    timers: () => due.size,
    /** Newest first, as the store answers. */
    setRows: (next: typeof rows) => {
      rows = next
    },
    change(...next: Change[]) {
      waiting.push(...next)
      wake()
    },
  }
}

const requestChange = (id: string): Change => ({ type: 'request', id, state: 'accepted' })
const row = (id: string) => ({ id })
const idsOf = (messages: readonly Message[]) =>
  messages.map(({ data }) => (data['requests'] as readonly { id: string }[]).map(({ id }) => id))

test('a burst makes at most four frames a second, each with one read for all clients', async () => {
  const { connect, pass, change, reads, setRows } = createFixture()
  const clients = [await connect(), await connect(), await connect()]
  for (let at = 0; at < 1000; at += 10) {
    const id = String(at).padStart(4, '0')
    setRows([row(id)])
    change(requestChange(id))
    await pass(10)
  }
  await pass(1000)
  const [first] = clients
  assert.ok(reads() >= 4 && reads() <= 5, `${reads()} reads`)
  assert.equal(first?.messages('frame').length, reads())
  for (const client of clients) assert.equal(client.response.text, first?.response.text)
})

test('while more requests come than a frame can name, there are two frames a second', async () => {
  const { connect, pass, change, reads } = createFixture()
  await connect()
  let next = 0
  for (let step = 0; step < 200; step += 1) {
    change(...Array.from({ length: 10 }, () => requestChange(String(++next))))
    await pass(10)
  }
  assert.ok(reads() >= 4 && reads() <= 6, `${reads()} reads in two seconds`)
})

test('a frame names the newest fifty requests, oldest first, and says how many it skips', async () => {
  const { connect, pass, change, setRows } = createFixture()
  const client = await connect()
  const ids = Array.from({ length: 70 }, (_, index) => String(index).padStart(3, '0'))
  setRows(ids.toReversed().map(row))
  change(...ids.slice(10).map(requestChange))
  await pass(500)
  const [frame] = client.messages('frame')
  assert.ok(frame)
  assert.deepEqual(idsOf([frame]), [ids.slice(20)])
  assert.equal(frame.data['skipped'], 10)
})

test('a frame has the last state of each run, and says where there are more than it names', async () => {
  const { connect, pass, change } = createFixture()
  const client = await connect()
  const run = (id: string, state: string, stage: string): Change => ({
    type: 'run',
    id,
    state,
    stage,
  })
  change(run('a', 'queued', 'accepted'), run('a', 'running', 'running'))
  await pass(500)
  change(...Array.from({ length: 201 }, (_, index) => run(String(index), 'queued', 'accepted')))
  await pass(500)
  const [small, large] = client.messages('frame')
  assert.deepEqual(small?.data['runs'], [{ id: 'a', state: 'running', stage: 'running' }])
  assert.equal(small?.data['partial'], undefined)
  assert.ok(large)
  assert.equal((large.data['runs'] as readonly object[]).length, 200)
  assert.equal(large.data['partial'], true)
})

test('a frame says that issues have changed, without which', async () => {
  const { connect, pass, change } = createFixture()
  const client = await connect()
  change({ type: 'issue', id: 'a', state: 'open' })
  await pass(500)
  const [frame] = client.messages('frame')
  assert.partialDeepStrictEqual(frame?.data, { issues: true, requests: [], runs: [] })
  assert.doesNotMatch(client.response.text, /"a"/)
})

test('a silent stream gets a comment every fifteen seconds', async () => {
  const { connect, pass } = createFixture()
  const client = await connect()
  const greeting = client.response.text
  await pass(31_000)
  assert.equal(client.response.text, `${greeting}:\n\n:\n\n`)
})

test('a client that reads too slowly is cut off, and the others go on', async () => {
  const { connect, pass, change } = createFixture()
  const [slow, other] = [await connect(), await connect()]
  slow.response.writableLength = 1024 * 1024 + 1
  change(requestChange('a'))
  await pass(500)
  assert.equal(slow.response.isDestroyed, true)
  change(requestChange('b'))
  await pass(500)
  assert.equal(slow.messages('frame').length, 0)
  assert.equal(other.messages('frame').length, 2)
})

for (const [max, of, nameOf] of [
  [100, 'all', String],
  [40, 'one token or sign-in, so that nobody holds all', () => 'one'],
] as const)
  test(`at most ${max} clients follow of ${of}, and one that leaves makes room`, async () => {
    const { connect } = createFixture()
    const clients = []
    for (let count = 0; count < max; count += 1) clients.push(await connect(undefined, nameOf(count)))
    const refused = await connect(undefined, nameOf(max))
    assert.partialDeepStrictEqual(refused.refusals, [{ code: 'TOO_MANY_STREAMS' }])
    assert.equal((await connect(undefined, 'other')).refusals.length, max === 100 ? 1 : 0)
    clients[0]?.response.destroy()
    assert.deepEqual((await connect(undefined, nameOf(max))).refusals, [])
  })

test('half a minute after the last client has gone, nothing is gathered, and one that comes then starts with a gap', async () => {
  const { connect, pass, change, reads, timers } = createFixture()
  const first = await connect()
  change(requestChange('a'))
  await pass(500)
  const seen = first.messages('frame')[0]?.id
  first.response.destroy()
  change(requestChange('b'))
  await pass(20_000)
  const second = await connect(seen)
  assert.equal(second.messages('frame').length, 1, 'within that time it misses nothing')
  second.response.destroy()
  await pass(31_000)
  assert.equal(timers(), 0)
  const before = reads()
  change(requestChange('c'))
  await pass(1_000)
  assert.equal(reads(), before)
  const third = await connect(seen)
  assert.equal(third.messages('gap').length, 1)
})

test('frames are remembered up to a bound', async () => {
  const { connect, pass, change } = createFixture()
  const client = await connect()
  for (let count = 0; count < 250; count += 1) {
    change(requestChange(String(count)))
    await pass(300)
  }
  const frames = client.messages('frame')
  assert.equal(frames.length, 250)
  assert.equal((await connect(frames[0]?.id)).messages('gap').length, 1)
  assert.equal((await connect(frames[20]?.id)).messages('frame').length, 229)
})
