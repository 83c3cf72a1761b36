/** Tests the observer `otel` against a collector that listens for OTLP over HTTP, in JSON. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { ConfigurationError } from '../../runtime/reload/start.ts'
import { atEnd } from '../at-end.ts'
import {
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../installation.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly status: { readonly code: number }
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Span, 'attributes'>
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

async function startCollector(t: TestContext, status = 200) {
  const exports: Export[] = []
  const keys: unknown[] = []
  const server = createServer(async (request, response) => {
    keys.push(request.headers['x-key'])
    exports.push((await json(request)) as Export)
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(t, () => void server.close().closeAllConnections())
  const resources = () => exports.flatMap(({ resourceSpans }) => resourceSpans)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    exports,
    keys,
    resources,
    spans: () => resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  }
}

const configuration = (
  url: string,
  runner = 'echo',
) => `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
agents:
  defaults: { runner: ${runner}, heartbeat: { every: 24h } }
  runners: { patient: { kind: patient, folder: "{folder}" } }
  route: { channel: board, to: team }
observers: { otel: { url: "${url}", headers: { x-key: key-of-the-backend } } }
`

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const sender = '00f067aa0ba902b7'
const traceparent = `00-${trace}-${sender}-01`

/** The names of spans from the outermost on, each with its parent's. */
function paths(spans: readonly Span[]): readonly string[] {
  const pathOf = ({ name, parentSpanId }: Span): string => {
    const parent = spans.find(({ spanId }) => spanId === parentSpanId)
    return parent === undefined ? `${parentSpanId ?? 'root'} > ${name}` : `${pathOf(parent)} > ${name}`
  }
  return spans.map(pathOf).sort()
}

function attributesOf({ attributes }: Pick<Span, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

async function delivered({ board }: Installation, count: number) {
  await until(async () => ((await board()).length >= count ? true : undefined), 'the replies')
}

const request = (endpoint: string) => `${sender} > POST /hooks/${endpoint}`

test('a wake, and a run with its delivery, are in the trace of their sender, each under its cause', async (t) => {
  const collector = await startCollector(t)
  const installed = await install(t, { 'reveille.yaml': configuration(collector.url) })
  const quiet = { wakeMode: 'next-heartbeat' }
  const { post, gateway } = installed
  assert.equal((await post('/hooks/agent?x=1', { message: 'canary', ...quiet }, { traceparent })).status, 202)
  await delivered(installed, 1)
  assert.equal((await post('/hooks/wake', { text: 'canary', mode: 'now' }, { traceparent })).status, 200)
  await delivered(installed, 2)
  await gateway.close()

  const spans = collector.spans()
  assert.deepEqual(new Set(spans.map(({ traceId }) => traceId)), new Set([trace]))
  const work = (endpoint: string, turn: string) => [
    request(endpoint),
    `${request(endpoint)} > commit`,
    `${request(endpoint)} > decision`,
    `${request(endpoint)} > ${turn} echo`,
    `${request(endpoint)} > ${turn} echo > delivery board`,
  ]
  assert.deepEqual(paths(spans), [...work('agent', 'run'), ...work('wake', 'heartbeat')])
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    assert.ok(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano))

  const [served] = spans.filter(({ name }) => name === 'POST /hooks/agent')
  const { 'reveille.id': id, ...attributes } = attributesOf(served as Span)
  assert.deepEqual(attributes, {
    'http.request.method': 'POST',
    'http.route': '/hooks/agent',
    'url.path': '/hooks/agent',
    'http.response.status_code': 202,
    'client.address': '127.0.0.1',
    'reveille.outcome': 'accepted',
  })
  assert.equal(attributesOf(collector.resources()[0]?.resource as Span)['service.name'], 'reveille')

  assert.deepEqual(new Set(collector.keys), new Set(['key-of-the-backend']))
  const exported = JSON.stringify(collector.exports)
  for (const secret of ['canary', hookToken, 'key-of-the-backend', 'team', 'x=1'])
    assert.doesNotMatch(exported, new RegExp(secret))
})

test('a run that is performed after a restart is in the trace of its request', async (t) => {
  const collector = await startCollector(t)
  const first = await install(t, { 'reveille.yaml': configuration(collector.url, 'patient') })
  const { body } = await first.post(
    '/hooks/agent',
    { message: 'later', sessionKey: 'hook:later' },
    { traceparent },
  )
  await first.line('run-started')
  await first.gateway.close({ graceMs: 0 })
  assert.equal(
    collector.spans().some(({ name }) => name === 'run patient'),
    false,
  )

  await first.write('go', '*')
  const second = await install(t, {}, { folder: first.folder })
  await second.ended(body['runId'])
  await second.gateway.close()
  const spans = collector.spans().filter(({ traceId }) => traceId === trace)
  assert.ok(paths(spans).includes(`${request('agent')} > run patient > delivery board`))
})

test('a request without a valid context of an authenticated sender begins a trace of its own', async (t) => {
  const collector = await startCollector(t)
  const { post, gateway } = await install(t, { 'reveille.yaml': configuration(collector.url) })
  const later = `01-${trace}-${sender}-01-more`
  const cases: [traceparent: string | undefined, isContinued: boolean, headers?: Record<string, string>][] = [
    [undefined, false],
    [later, true],
    [`${traceparent}-more`, false],
    [traceparent.toUpperCase(), false],
    [traceparent.slice(0, -1), false],
    [`ff${traceparent.slice(2)}`, false],
    [`00-${'0'.repeat(32)}-${sender}-01`, false],
    [`00-${trace}-${'0'.repeat(16)}-01`, false],
    [`${traceparent}, ${traceparent}`, false],
    [traceparent, false, { authorization: 'Bearer wrong' }],
  ]
  for (const [context, , headers] of cases)
    await post(
      '/hooks/wake',
      { text: 'x', mode: 'next-heartbeat' },
      { ...headers, ...(context && { traceparent: context }) },
    )
  const unsampled = `00-${trace}-${sender}-00`
  await post('/hooks/wake', { text: 'x', mode: 'next-heartbeat' }, { traceparent: unsampled })
  await gateway.close()
  const requests = collector.spans().filter(({ name }) => name === 'POST /hooks/wake')
  assert.deepEqual(
    requests.map(({ traceId, parentSpanId }) => [traceId === trace, parentSpanId || undefined]),
    cases.map(([, isContinued]) => [isContinued, isContinued ? sender : undefined]),
    'the one that its sender does not sample is not exported',
  )
  assert.equal(new Set(requests.map(({ traceId }) => traceId)).size, cases.length)
})

test('a collector that is away or refuses costs no request anything, and is logged once', async (t) => {
  const collector = await startCollector(t, 400)
  for (const url of ['http://127.0.0.1:1/v1/traces', collector.url]) {
    const { post, gateway, lines } = await install(t, { 'reveille.yaml': configuration(url) })
    for (let each = 0; each < 3; each += 1)
      assert.equal((await post('/hooks/wake', { text: 'x', mode: 'next-heartbeat' })).status, 200)
    await gateway.close()
    assert.equal(lines('spans-not-exported').length, 1)
  }
})

test('a mistake in the configuration of the observer is reported at its line', async (t) => {
  const cases: [config: string, problem: RegExp][] = [
    ['url: "http://127.0.0.1:4318"', /^observers\.otel\.url must be an http address with a path/],
    ['headers: { "x-key": 1 }', /^observers\.otel\.headers\.x-key must be of type string/],
    ['headers: { "x key": "1" }', /^observers\.otel\.headers must be names of letters/],
    ['headers: { x-key: "1\\n2" }', /^observers\.otel\.headers\.x-key must be a value of printable/],
    ['sample: 1', /^observers\.otel\.sample is not a known key/],
  ]
  const written = configuration('http://127.0.0.1:1/v1/traces')
  const line = written.split('\n').findIndex((each) => each.startsWith('observers:')) + 1
  for (const [config, problem] of cases) {
    const text = written.replace(/observers:.*/, `observers: { otel: { ${config} } }`)
    await assert.rejects(install(t, { 'reveille.yaml': text }), (error) => {
      assert.ok(error instanceof ConfigurationError)
      const [{ message, place } = {}] = error.diagnostics
      assert.match(String(message), problem)
      assert.equal(place?.line, line)
      return true
    })
  }
})
