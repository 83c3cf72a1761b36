import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { configuration, type Installation, install, until } from '../../test/installation.ts'
import type { DeliveryRecord, EventRecord, Page, RequestRecord, RunRecord } from '../store/port.ts'

const mappings = `mappings:
  - id: pushed
    match: { path: github, headers: { x-github-event: push } }
    sessionKey: "hook:push:{{ref}}"
    message: "A push to {{ref}}"
    wakeMode: next-heartbeat
  - id: silent
    match: { path: github, headers: { x-github-event: silent } }
    message: "HEARTBEAT_OK"
    wakeMode: next-heartbeat
`

/** Three runs, one of them silent, two wakes, one ignored request and two refused ones; all of it ended. */
async function openHistory(t: TestContext): Promise<Installation & { runs: string[]; wakes: string[] }> {
  const opened = await install(t, {
    'mappings/github.yaml': mappings,
    'reveille.yaml': `${configuration}history: { bodies: all }\n`,
  })
  const { post, read } = opened
  const runs: string[] = []
  for (const [kind, ref] of [
    ['push', 'main'],
    ['push', 'next'],
    ['silent', ''],
  ]) {
    const { body } = await post(
      '/hooks/github?canary=QUERY',
      { ref, canary: 'BODY' },
      {
        'x-github-event': String(kind),
        'x-canary': 'HEADER',
      },
    )
    runs.push(String(body['runId']))
  }
  const wakes: string[] = []
  for (const text of ['one', 'two']) {
    const { body } = await post('/hooks/wake', { text, mode: 'next-heartbeat' })
    wakes.push(String(body['eventId']))
  }
  await post('/hooks/github', {}, { 'x-github-event': 'ping' })
  await post('/hooks/github', '{"canary": "BODY"')
  await post('/hooks/nowhere', { canary: 'BODY' })
  for (const id of runs) {
    await until(
      async () => (await read<RunRecord>(`/api/runs/${id}`)).stage === 'delivered' || undefined,
      'the end of a run',
    )
  }
  // No answer waits for the record of a request that caused nothing.
  await until(
    async () => (await read<Page<object>>('/api/requests?outcome=ignored')).items.length > 0 || undefined,
    'the ignored request',
  )
  return { ...opened, runs, wakes }
}

test('each list is newest first, and its filters select the requested records', async (t) => {
  const { read, runs, wakes } = await openHistory(t)
  const idsOf = async (path: string) => {
    const { items } = await read<Page<{ id: string }>>(path)
    return items.map(({ id }) => id)
  }

  assert.deepEqual(await idsOf('/api/runs'), runs.toReversed())
  assert.deepEqual(await idsOf('/api/runs?state=succeeded&kind=run'), runs.toReversed())
  assert.deepEqual(await idsOf(`/api/runs?sessionKey=${encodeURIComponent('hook:push:next')}`), [runs[1]])
  assert.deepEqual(await idsOf('/api/runs?state=failed'), [])
  assert.deepEqual(await idsOf('/api/runs?endpoint=github'), runs.toReversed())
  assert.deepEqual(await idsOf('/api/runs?endpoint=stripe'), [])
  assert.deepEqual(await idsOf('/api/runs?kind=heartbeat'), [])

  const { items: events } = await read<Page<EventRecord>>('/api/events?state=pending')
  assert.deepEqual(
    events.map(({ id }) => id),
    events
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  )
  assert.equal(events.length, runs.length + wakes.length, 'each run has posted its summary')
  assert.deepEqual(await idsOf('/api/events?state=consumed'), [])

  const { items: deliveries } = await read<Page<DeliveryRecord>>('/api/deliveries')
  assert.deepEqual(deliveries.map(({ state }) => state).toSorted(), ['delivered', 'delivered', 'skipped'])
  const { items: skipped } = await read<Page<DeliveryRecord>>('/api/deliveries?state=skipped')
  assert.deepEqual(
    skipped.map(({ code, runId }) => [code, runId]),
    [['ACK_ONLY', runs[2]]],
  )

  const { items: requests } = await read<Page<RequestRecord>>('/api/requests')
  assert.deepEqual(
    requests.map(({ outcome, endpoint, status }) => `${outcome} ${endpoint} ${status}`),
    [
      'refused nowhere 404',
      'refused github 400',
      'ignored github 200',
      'accepted wake 200',
      'accepted wake 200',
      'accepted github 202',
      'accepted github 202',
      'accepted github 202',
    ],
  )
  for (const outcome of ['refused', 'ignored', 'accepted']) {
    const { items } = await read<Page<RequestRecord>>(`/api/requests?outcome=${outcome}&endpoint=github`)
    assert.deepEqual(
      items,
      requests.filter((request) => request.outcome === outcome && request.endpoint === 'github'),
    )
  }
})

test('requests are found by each of their fields, and by the time in which they came', async (t) => {
  const { read } = await openHistory(t)
  const idsOf = async (query: string) =>
    (await read<Page<RequestRecord>>(`/api/requests?${query}`)).items.map(({ id }) => id)
  const { items: all } = await read<Page<RequestRecord>>('/api/requests')
  for (const name of ['mapping', 'code', 'client', 'generation', 'generationDigest'] as const) {
    const values = new Set(all.flatMap((request) => request[name] ?? []))
    assert.ok(values.size > 0, name)
    for (const value of values) {
      const expected = all.filter((request) => request[name] === value).map(({ id }) => id)
      assert.deepEqual(await idsOf(`${name}=${encodeURIComponent(value)}`), expected, `${name} ${value}`)
    }
  }
  const middle = all[3]?.receivedAt ?? 0
  const iso = encodeURIComponent(new Date(middle).toISOString())
  const late = all.filter(({ receivedAt }) => receivedAt >= middle).map(({ id }) => id)
  const early = all.filter(({ receivedAt }) => receivedAt < middle).map(({ id }) => id)
  for (const time of [middle, iso]) {
    assert.deepEqual(await idsOf(`since=${time}`), late)
    assert.deepEqual(await idsOf(`until=${time}`), early)
  }
  assert.deepEqual(await idsOf('since=2020-01-01&until=2020-01-02'), [])
  assert.deepEqual(await idsOf('deliveryId=none'), [])
  const outcome = encodeURIComponent('refused')
  assert.deepEqual(
    await idsOf(`outcome=${outcome}&since=${middle}`),
    all
      .filter((request) => request.outcome === 'refused' && request.receivedAt >= middle)
      .map(({ id }) => id),
  )
})

test('whatever is copied from somewhere finds its record', async (t) => {
  const { read, runs } = await openHistory(t)
  const found = async (text: unknown) =>
    (await read<Page<{ kind: string; id: string }>>(`/api/find?q=${encodeURIComponent(String(text))}`)).items
  assert.deepEqual(await found(runs[0]), [{ kind: 'run', id: runs[0] }])
  assert.deepEqual(await found(` ${runs[0]?.toUpperCase()} `), [{ kind: 'run', id: runs[0] }])
  assert.deepEqual(await found(runs[1]?.slice(-8)), [{ kind: 'run', id: runs[1] }])
  assert.deepEqual(await found('hook:push:main'), [{ kind: 'session', id: 'hook:push:main' }])
  assert.deepEqual(await found('nothing of that name'), [])
})

test('pages follow each other without a gap or a repeat, refused requests among the others', async (t) => {
  const { read } = await openHistory(t)
  async function byPages(list: string, limit: number): Promise<unknown[]> {
    const met: unknown[] = []
    let cursor = ''
    for (let page = 0; page < 100; page += 1) {
      const { items, next } = await read<Page<object>>(`/api/${list}?limit=${limit}${cursor}`)
      assert.ok(items.length <= limit)
      met.push(...items)
      if (next === undefined) break
      cursor = `&cursor=${encodeURIComponent(next)}`
    }
    return met
  }
  for (const list of ['requests', 'runs', 'events', 'deliveries']) {
    for (const limit of [1, 2, 99]) {
      // An event about an issue may come between two pages.
      await until(async () => {
        const { items: whole, next } = await read<Page<object>>(`/api/${list}`)
        assert.equal(next, undefined, `${list} fit one page`)
        return isDeepStrictEqual(await byPages(list, limit), whole) || undefined
      }, `${list} by ${limit}`)
    }
  }
})

test('an ignored request says of each mapping which clause failed, and shows no secret', async (t) => {
  const { post, read } = await install(t, { 'mappings/github.yaml': mappings })
  const headers = { 'x-github-event': 'ping', 'x-hub-signature-256': 'sha256=SECRET' }
  const { headers: answered } = await post('/hooks/github', { password: 'SECRET' }, headers)
  const record = await until(async () => {
    const found = await read<RequestRecord & { trace?: object }>(`/api/requests/${answered['x-request-id']}`)
    return found.trace && found
  }, 'the trace')
  assert.equal(record.outcome, 'ignored')
  assert.partialDeepStrictEqual(record.trace, {
    candidates: [
      {
        mapping: 'pushed',
        verdict: 'failed',
        clause: { path: 'match.headers.x-github-event', expected: '"push"', actual: '"ping"' },
      },
      { mapping: 'silent', verdict: 'failed' },
    ],
    more: 0,
  })
  assert.doesNotMatch(JSON.stringify(record.trace), /SECRET/)
})

test('a session key may be long and hold slashes', async (t) => {
  const { post, read } = await install(t, {})
  const sessionKey = `hook:${'long/'.repeat(100)}#1?`
  await post('/hooks/agent', { message: 'hi', sessionKey, deliver: false, wakeMode: 'next-heartbeat' })
  const session = await until(async () => {
    const answer = await read<{ key?: string; messages?: unknown[] }>(
      `/api/sessions/${encodeURIComponent(sessionKey)}`,
    )
    return answer.messages?.length === 2 ? answer : undefined
  }, 'the session')
  assert.equal(session.key, sessionKey)
})

test('a list says that a body is kept, and a request shows its headers, but neither shows the body', async (t) => {
  const { ask, read } = await openHistory(t)
  const list = await ask('/api/requests')
  assert.doesNotMatch(list.text, /BODY|HEADER|QUERY|"body"|"head/)
  const { items } = await read<Page<RequestRecord & { bodyKept: boolean }>>('/api/requests')
  for (const { id, outcome } of items) {
    const { text, body } = await ask(`/api/requests/${id}`)
    assert.doesNotMatch(text, /BODY|"body"|"head"/)
    assert.equal('headers' in body, body['bodyKept'])
    assert.equal(body['bodyKept'], outcome !== 'refused', `${outcome}: history.bodies is all`)
  }
})

test('an unknown or invalid query parameter is refused with a pointer to it', async (t) => {
  const { ask } = await install(t, {})
  const refusals = {
    'runs?colour=red': ['/colour', 'is not known here'],
    'status?colour=red': ['/colour', 'is not known here'],
    'events?a%2Fb~c=1': ['/a~1b~0c', 'is not known here'],
    'runs?limit=0': ['/limit', 'must be >= 1'],
    'requests?limit=501': ['/limit', 'must be <= 500'],
    'deliveries?limit=many': ['/limit', 'must be an integer'],
    'runs?limit=1&limit=2': ['/limit', 'must be an integer'],
    'events?state=asleep': ['/state', 'must be one of pending, consumed'],
    'requests?outcome=': [
      '/outcome',
      'must be one of accepted, ignored, skipped, duplicate, handshake, failed, refused',
    ],
    'runs?cursor=yesterday': ['/cursor', 'must be the `next` of an earlier page'],
    'runs?cursor=': ['/cursor', 'must NOT have fewer than 1 characters'],
    'requests?since=yesterday': [
      '/since',
      'must be a time: ISO 8601 such as 2026-01-31T08:00Z, or milliseconds since the Unix epoch',
    ],
    'requests?until=2026-13-40': ['/until', 'must be a time that there is'],
    'requests?generation=first': ['/generation', 'must be an integer'],
    'requests?endpoint=%20': ['/endpoint', 'must not be blank; leave it out instead'],
    'runs?endpoint=%20': ['/endpoint', 'must not be blank; leave it out instead'],
    find: ['/q', 'is required'],
  }
  for (const [query, [pointer, message]] of Object.entries(refusals)) {
    const { status, body, headers } = await ask(`/api/${query}`)
    const { error, requestId, ...rest } = body
    assert.deepEqual(
      { status, ...rest },
      { status: 400, ok: false, code: 'INVALID_FIELD', details: [{ pointer, message }] },
      query,
    )
    assert.match(String(error), /^[A-Z].*\.$/)
    assert.equal(requestId, headers['x-request-id'])
  }
})
