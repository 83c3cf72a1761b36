/** Asks every route of a gateway that has done something of everything, and holds the answers to the OpenAPI document. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type AskOptions, configuration, type Installation, install, until } from '../../test/installation.ts'
import { openapiDocument } from '../../tools/openapi.ts'
import type { Page } from '../store/port.ts'
import type { RouteDeclaration } from './routes/declaration.ts'
import { routes } from './routes/index.ts'

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>
}

const document = (await openapiDocument()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Ajv resolves the references of the document in itself. Objects are closed, so that an answer holds nothing that is not described. */
const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema(closed(document) as object, 'api')

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([key, value]) => [key, closed(value)])
  const isOpen = 'properties' in node && !('additionalProperties' in node) && 'type' in node
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: false }) }
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
)

/** Throws unless the answer is described for the operation and its status. */
function assertDescribed(operationId: string, status: number, type: string, body: unknown): void {
  const operation = operations.find((each) => each.operationId === operationId)
  assert.ok(operation, `${operationId} is described`)
  const { path, method, responses } = operation
  const isKnown = String(status) in responses
  const [media = ''] = type.split(';')
  if (isKnown && media !== 'application/json') {
    assert.ok(media in (responses[status]?.content ?? {}), `${operationId} ${status} ${type}`)
    return
  }
  const pointer = isKnown
    ? ['paths', path, method, 'responses', String(status), 'content', media, 'schema']
    : ['components', 'schemas', 'Error']
  const $ref = `api#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
  const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref })
  assert.ok(
    validate(body),
    `${operationId} ${status}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body).slice(0, 2000)}`,
  )
}

const mappings = `mappings:
  - id: pushed
    match: { path: github, headers: { x-github-event: push } }
    sessionKey: "hook:push:{{ref}}"
    message: "A push to {{ref}}"
  - id: joined
    match: { path: burst }
    message: "One of {{n}}"
    coalesce: { key: "'all'", window: 20s }
endpoints:
  github: { rate: { endpoint: 600/1m, client: 60/1m }, budget: { runs: 100 } }
`

interface Asked extends AskOptions {
  readonly path: string
  readonly status?: number
}

/** Returns the calls of each operation. The ids are those of the records that `openGateway` made. */
function askedOf(ids: Readonly<Record<string, string>>): Readonly<Record<string, readonly Asked[]>> {
  const json = (body: unknown): AskOptions => ({ method: 'POST', payload: JSON.stringify(body) })
  return {
    listRequests: [{ path: '/api/requests' }, { path: '/api/requests?since=2020-01-01&outcome=ignored' }],
    readRequest: ['accepted', 'ignored', 'refused'].map((kind) => ({ path: `/api/requests/${ids[kind]}` })),
    explainRequest: [
      { path: `/api/requests/${ids['push']}/explain` },
      { path: `/api/requests/${ids['ignored']}/explain` },
      { path: `/api/requests/${ids['refused']}/explain`, status: 409 },
      { path: `/api/requests/${ids['push']}/explain?generation=x`, status: 400 },
    ],
    writeTest: [
      { path: `/api/requests/${ids['push']}/as-test` },
      { path: `/api/requests/${ids['refused']}/as-test`, status: 409 },
    ],
    tryRequest: [
      { path: '/api/try', ...json({ endpoint: 'burst', payload: '{"n": "a, b"}' }) },
      { path: '/api/try', ...json({ endpoint: 'burst', payload: '{}', mapping: 'mesage: x' }) },
      {
        path: '/api/try',
        ...json({
          endpoint: 'b',
          payload: '{}',
          mapping: '{ match: { path: b }, message: "x", name: "{{n}}" }',
        }),
      },
      { path: '/api/try', ...json({ payload: '{}' }), status: 400 },
    ],
    listSamples: [{ path: '/api/endpoints/github/samples' }],
    listPaths: [{ path: '/api/endpoints/github/paths' }],
    readRequestBody: [
      { path: `/api/requests/${ids['accepted']}/body` },
      { path: `/api/requests/${ids['refused']}/body`, status: 409 },
    ],
    replayRequest: [
      { path: `/api/requests/${ids['accepted']}/replay`, method: 'POST' },
      { path: `/api/requests/${ids['ignored']}/replay`, ...json({ payload: { a: 1 } }) },
      { path: `/api/requests/${ids['accepted']}/replay`, ...json({ dryRun: true }) },
      {
        path: `/api/requests/${ids['accepted']}/replay`,
        ...json({ dryRun: true, generation: 99 }),
        status: 404,
      },
      { path: `/api/requests/${ids['refused']}/replay`, method: 'POST', status: 409 },
    ],
    replayRequests: [
      { path: '/api/requests/replay', ...json({ filter: { outcome: 'failed' } }), status: 202 },
      { path: '/api/requests/replay', ...json({ filter: { endpoint: 'github' }, dryRun: true }) },
    ],
    listJobs: [{ path: '/api/jobs?state=done' }],
    readJob: [{ path: `/api/jobs/${ids['job']}` }],
    cancelJob: [{ path: `/api/jobs/${ids['job']}/cancel`, method: 'POST', status: 409 }],
    forgetRequests: [
      { path: '/api/requests/forget', ...json({ filter: { endpoint: 'github' }, dryRun: true }) },
      { path: '/api/requests/forget', ...json({ ids: [ids['ignored'], ids['burst']] }) },
    ],
    listRuns: [{ path: '/api/runs' }],
    readRun: [{ path: `/api/runs/${ids['run']}` }, { path: `/api/runs/${ids['burst']}` }],
    cancelRun: [
      { path: `/api/runs/${ids['run']}/cancel`, method: 'POST', status: 409 },
      { path: `/api/runs/${ids['burst']}/cancel`, method: 'POST' },
    ],
    resumeRun: [{ path: `/api/runs/${ids['run']}/resume`, method: 'POST', status: 409 }],
    retryRun: [{ path: `/api/runs/${ids['run']}/retry`, method: 'POST', status: 409 }],
    retryRuns: [
      { path: '/api/runs/retry', ...json({ since: '2020-01-01', code: 'exit' }) },
      { path: '/api/runs/retry', ...json({ all: true, dryRun: true }) },
      { path: '/api/runs/retry', ...json({ since: 'yesterday' }), status: 400 },
      { path: '/api/runs/retry', method: 'POST', status: 400 },
      { path: '/api/runs/retry', ...json({ dryRun: true }), status: 400 },
      { path: '/api/runs/retry', ...json({ all: true, state: 'failed' }), status: 400 },
      { path: '/api/runs/retry?endpoint=x', ...json({ all: true }), status: 400 },
    ],
    resumeRuns: [
      { path: '/api/runs/resume', method: 'POST' },
      { path: '/api/runs/resume', ...json({ run: 'x' }), status: 400 },
    ],
    listEvents: [{ path: '/api/events' }],
    readEvent: [{ path: `/api/events/${ids['event']}` }],
    listDeliveries: [{ path: '/api/deliveries' }],
    sendDelivery: [
      { path: '/api/deliveries', ...json({ channel: 'board', to: 'ada', text: 'hello' }), status: 202 },
      { path: '/api/deliveries', ...json({ channel: 5 }), status: 400 },
    ],
    readDelivery: [{ path: `/api/deliveries/${ids['delivery']}` }],
    replayDelivery: [{ path: `/api/deliveries/${ids['parked']}/replay`, method: 'POST' }],
    replayDeliveries: [{ path: '/api/deliveries/replay', ...json({ channel: 'board' }) }],
    listSessions: [{ path: '/api/sessions' }],
    readSession: [{ path: `/api/sessions/${encodeURIComponent('hook:push:main')}` }],
    readRoute: [{ path: '/api/route' }],
    setRoute: [{ path: '/api/route', ...json({ channel: 'board', to: 'team' }), method: 'PUT' }],
    readStatus: [{ path: '/api/status' }],
    readSeries: [{ path: '/api/series' }, { path: '/api/series?minutes=361', status: 400 }],
    readSpend: [
      { path: '/api/spend' },
      { path: '/api/spend?by=mapping&since=2026-01-01&limit=1' },
      { path: '/api/spend?since=tomorrow', status: 400 },
      { path: '/api/spend?cursor=x', status: 400 },
    ],
    readHealth: [{ path: '/api/health' }],
    listGenerations: [{ path: '/api/generations' }],
    readGeneration: [{ path: '/api/generations/1' }, { path: '/api/generations/99', status: 404 }],
    reload: [
      { path: '/api/reload', method: 'POST' },
      { path: '/api/reload?dryRun=true&limit=10', method: 'POST' },
    ],
    saveMapping: [
      {
        path: '/api/mappings?dryRun=true',
        ...json({ file: 'saved.yaml', mapping: '{ id: saved, match: { path: saved }, message: x }' }),
      },
      { path: '/api/mappings', ...json({ file: 'saved.yaml', mapping: 'mesage: x' }), status: 409 },
    ],
    readGenerationFile: [
      { path: '/api/generations/1/file?path=reveille.yaml' },
      { path: '/api/generations/1/file?path=/etc/passwd', status: 404 },
    ],
    compareGenerations: [
      { path: '/api/generations/1/compare?with=1' },
      { path: '/api/generations/1/compare?with=99', status: 404 },
    ],
    rollBack: [
      { path: '/api/generations/1/rollback?dryRun=true', method: 'POST' },
      { path: '/api/generations/1/rollback', method: 'POST' },
    ],
    listEndpoints: [{ path: '/api/endpoints' }],
    listMappings: [{ path: '/api/mappings?limit=1' }],
    find: [{ path: `/api/find?q=${ids['run']?.slice(-8)}` }, { path: '/api/find', status: 400 }],
    listIssues: [{ path: '/api/issues' }, { path: '/api/issues?state=open&limit=1' }],
    resolveIssue: [
      { path: '/api/issues/resolve', ...json({ key: ids['issue'] }) },
      { path: '/api/issues/resolve', ...json({ key: 'none' }), status: 404 },
    ],
    muteIssue: [{ path: '/api/issues/mute', ...json({ key: ids['issue'], until: 2e12 }) }],
    reopenIssue: [{ path: '/api/issues/reopen', ...json({ key: ids['issue'] }) }],
    readOpenapi: [{ path: '/api/openapi.json' }],
    followStream: [{ path: '/api/stream', method: 'HEAD' }],
    readLiveness: [{ path: '/healthz', headers: {} }],
    readReadiness: [{ path: '/readyz', headers: {} }, { path: '/readyz' }],
  }
}

test('every route answers what the OpenAPI document says', async (t) => {
  const { ask, ids } = await openGateway(t)
  const asked = askedOf(ids)
  assert.deepEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
    Object.keys(asked).toSorted(),
    'each operation is asked',
  )
  for (const [operationId, all] of Object.entries(asked)) {
    for (const { path, status = 200, ...options } of all) {
      const answer = await ask(path, options)
      assert.equal(answer.status, status, `${path}: ${answer.text}`)
      assertDescribed(operationId, answer.status, String(answer.headers['content-type']), answer.body)
    }
  }
})

test('the document describes the API without the sign-in, the two probes, and nothing else', () => {
  const declared = Object.values<RouteDeclaration>(routes)
    .filter(({ path }) => path !== '/session')
    .map(({ method, path }) => `${method.toLowerCase()} /api${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  const described = operations.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(described.toSorted(), [...declared, 'get /healthz', 'get /readyz'].toSorted())
})

test('an error has the form that the document says', async (t) => {
  const { ask } = await install(t, {})
  const cases: [string, Asked][] = [
    ['listRuns', { path: '/api/runs', headers: {}, status: 401 }],
    ['listRuns', { path: '/api/runs?limit=0', status: 400 }],
    ['readRun', { path: '/api/runs/nothing', status: 404 }],
    ['listRuns', { path: '/api/runs', method: 'DELETE', status: 405 }],
  ]
  for (const [operationId, { path, status, ...options }] of cases) {
    const answer = await ask(path, options)
    assert.equal(answer.status, status, path)
    assertDescribed(operationId, answer.status, String(answer.headers['content-type']), answer.body)
  }
})

/** A gateway with a request of each kind, a run that succeeded, one that others joined, and a parked delivery. */
async function openGateway(t: TestContext): Promise<Installation & { readonly ids: Record<string, string> }> {
  const opened = await install(t, {
    'mappings/github.yaml': mappings,
    'reveille.yaml': `${configuration.replace('agents: {', 'agents: { budget: { runs: 900 },')}history: { bodies: all }\n`,
  })
  const { post, read, ended } = opened
  const push = await post('/hooks/github', { ref: 'main' }, { 'x-github-event': 'push' })
  await ended(push.body['runId'])
  await post('/hooks/burst', { n: 1 })
  const burst = await post('/hooks/burst', { n: 2 })
  await post('/hooks/wake', { text: 'hello', mode: 'next-heartbeat' })
  await post('/hooks/github', {}, { 'x-github-event': 'ping' })
  await post('/hooks/nowhere', {})
  const message = { message: 'x', channel: 'board', to: 'gone', wakeMode: 'next-heartbeat' }
  await post('/hooks/agent', message)
  const first = <Item>(list: string) =>
    until(async () => (await read<Page<Item & { id: string }>>(`/api/${list}`)).items[0], list)
  const parked = await first<object>('deliveries?state=parked')
  const filter = { endpoint: 'github', outcome: 'ignored' }
  const job = await opened.ask('/api/requests/replay', {
    method: 'POST',
    payload: JSON.stringify({ filter }),
  })
  await first<object>('jobs?state=done')
  const ids = {
    push: String(push.headers['x-request-id']),
    job: String(job.body['job']),
    run: String(push.body['runId']),
    burst: String(burst.body['runId']),
    accepted: (await first<object>('requests?outcome=accepted')).id,
    ignored: (await first<object>('requests?outcome=ignored')).id,
    refused: (await first<object>('requests?outcome=refused')).id,
    event: (await first<object>('events')).id,
    delivery: (await first<object>('deliveries?state=delivered')).id,
    parked: parked.id,
    issue: (await first<{ key: string }>('issues')).key,
  }
  return { ...opened, ids }
}
