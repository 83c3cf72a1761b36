/** Tests a gateway in front of an OpenClaw installation: it receives and stores, and OpenClaw does the rest. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type FakeServerOptions, openFakeServer, type Received } from '../../plugins/openclaw/fake-server.ts'
import type { EventRecord, Page, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { gatewayToken, hookToken, install, until } from '../installation.ts'

const clawToken = 'openclaw-hook-token-0123456789ab'

/** The only line is that of `runners`. Retries come soon, to keep the test short. */
const configurationFor = (url: string) => `
gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - id: review
      match: { path: github }
      name: "PR {{number}}"
      sessionKey: "hook:pr:{{number}}"
      message: "Review pull request {{number}}."
      model: openai/gpt-5.2-mini
      thinking: low
      timeoutSeconds: 120
      channel: slack
      to: "#reviews"
    - id: bell
      match: { path: bell }
      action: wake
      text: "The bell rang {{times}} times."
      mode: next-heartbeat
agents:
  defaults: { runner: openclaw, timeoutSeconds: 60, retry: { attempts: 100, backoff: 20ms, maxBackoff: 200ms } }
  runners: { openclaw: { kind: openclaw, url: "${url}", token: "\${OPENCLAW_HOOK_TOKEN}" } }
`

async function openBoth(t: TestContext, options: Partial<FakeServerOptions> = {}) {
  const openClaw = await openFakeServer({ token: clawToken, ...options })
  atEnd(t, openClaw.close)
  const gateway = await install(
    t,
    { 'reveille.yaml': configurationFor(openClaw.url) },
    { env: { OPENCLAW_HOOK_TOKEN: clawToken } },
  )
  const taken = (count: number) =>
    until(() => (openClaw.taken.length >= count ? openClaw.taken : undefined), `${count} requests taken`)
  return { openClaw, taken, ...gateway }
}

const bodies = (requests: readonly Received[]) => requests.map(({ body }) => body)

test('a mapped request causes one run of OpenClaw, and this gateway sends no second summary or reply', async (t) => {
  const { post, ended, read, openClaw, log } = await openBoth(t)
  const { status, body } = await post('/hooks/github', { number: 42 })
  assert.deepEqual([status, body['sessionKey']], [202, 'hook:pr:42'])

  const run = await ended(body['runId'])
  assert.deepEqual(
    [run.state, run.stage, run.handedOver, run.reply ?? '', run.deliveryIds, run.summaryEventId],
    ['succeeded', 'delivered', 'OpenClaw run claw-1', '', [], undefined],
  )
  assert.equal(run.attempts.length, 1)
  assert.deepEqual(bodies(openClaw.received), [
    {
      message: run.prompt,
      name: 'PR 42',
      wakeMode: 'now',
      deliver: true,
      channel: 'slack',
      to: '#reviews',
      model: 'openai/gpt-5.2-mini',
      thinking: 'low',
      timeoutSeconds: openClaw.received[0]?.body['timeoutSeconds'],
      sessionKey: 'hook:pr:42',
    },
  ])
  const seconds = Number(openClaw.received[0]?.body['timeoutSeconds'])
  assert.ok(seconds > 60 && seconds <= 120, `${seconds} s`)
  assert.equal(openClaw.received[0]?.headers['x-reveille-run'], run.id)
  assert.match(run.prompt, /^Review pull request 42\./)

  for (const list of ['events', 'deliveries']) {
    assert.deepEqual((await read<Page<unknown>>(`/api/${list}`)).items, [], list)
  }
  assert.ok(!log().includes(clawToken))
})

test('events reach OpenClaw soon, whether their mode is now or next-heartbeat', async (t) => {
  const { post, taken, read } = await openBoth(t)
  const now = await post('/hooks/wake', { text: 'It rang.', mode: 'now' })
  const later = await post('/hooks/bell', { times: 3 })
  assert.deepEqual([now.status, later.status], [200, 200])

  const [first, second] = [...(await taken(2))].sort(({ body: { mode } }) => (mode === 'now' ? -1 : 1))
  assert.deepEqual([first?.path, first?.body['mode']], ['/hooks/wake', 'now'])
  assert.match(String(first?.body['text']), /It rang\./)
  assert.deepEqual([second?.path, second?.body['mode']], ['/hooks/wake', 'next-heartbeat'])
  assert.equal(second?.body['text'], 'The bell rang 3 times.')

  for (const { body } of [now, later]) {
    const consumed = await until(async () => {
      const event = await read<EventRecord>(`/api/events/${body['eventId']}`)
      return event.state === 'consumed' ? event : undefined
    }, 'the event to be consumed')
    const heartbeat = await read<RunRecord>(`/api/runs/${consumed.consumedBy}`)
    assert.match(heartbeat.handedOver ?? '', /^OpenClaw, \d events?$/)
    assert.deepEqual(heartbeat.deliveryIds, [])
  }
  assert.equal((await taken(2)).length, 2, 'each of them once')
})

test('an OpenClaw that accepts no session keys gets only runs whose key was not chosen', async (t) => {
  const { post, ended, openClaw } = await openBoth(t, { allowRequestSessionKey: false })
  const { body } = await post('/hooks/agent', { message: 'Say hi.' })
  const run = await ended(body['runId'])
  assert.deepEqual([run.state, run.handedOver], ['succeeded', 'OpenClaw run claw-1'])
  assert.equal(openClaw.taken[0]?.body['sessionKey'], undefined)
  assert.match(run.warnings?.join() ?? '', /chooses its own/)

  const refused = await post('/hooks/github', { number: 42 })
  const failed = await ended(refused.body['runId'])
  assert.deepEqual([failed.state, failed.error?.code], ['failed', 'bad-request'])
  assert.match(failed.error?.message ?? '', /hooks\.allowRequestSessionKey.*sessionKey: omit/)
})

test('while OpenClaw is away nothing is lost, and nothing is handed over twice', async (t) => {
  const { openClaw, post, ended, line, lines } = await openBoth(t)
  const { port } = new URL(openClaw.url)
  await openClaw.close()

  const accepted: unknown[] = []
  for (const number of [1, 2, 3]) accepted.push((await post('/hooks/github', { number })).body['runId'])
  await post('/hooks/wake', { text: 'It rang.', mode: 'now' })
  await line('heartbeat-failed')
  await until(() => (lines('run-retried').length >= 3 ? true : undefined), 'each run to be tried again')

  const back = await openFakeServer({ token: clawToken, port: Number(port) })
  atEnd(t, back.close)
  for (const runId of accepted) {
    const run = await ended(runId)
    assert.deepEqual([run.state, run.attempts.length > 1], ['succeeded', true])
  }
  assert.deepEqual(
    back.taken
      .filter(({ path }) => path === '/hooks/agent')
      .map(({ body }) => body['name'])
      .sort(),
    ['PR 1', 'PR 2', 'PR 3'],
  )
  const rang = ({ path, body }: Received) =>
    path === '/hooks/wake' && String(body['text']).includes('It rang.')
  await until(() => back.taken.find(rang), 'the event to arrive')
})
