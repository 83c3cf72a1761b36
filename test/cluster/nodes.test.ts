/** Tests two and three nodes of one process on one database: who accepts, who performs, who leads, and what each of them shows. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testPostgres } from '../../plugins/postgres/testing/index.ts'
import type { GatewayStatus } from '../../runtime/api/index.ts'
import type { Page, RequestRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import {
  createFolder,
  gatewayToken,
  type Installation,
  install,
  configuration as usual,
} from '../installation.ts'

const leases = { renewMs: 200, expireMs: 2000, freshMs: 1500 }

/** Makes nodes with the same files, of which the first makes the tables. The names of ingress nodes begin with `in`. */
async function startNodes(t: TestContext, ...names: readonly string[]): Promise<readonly Installation[]> {
  const { url, drop } = await testPostgres()
  atEnd(t, drop)
  const shared = await createFolder(t, {})
  const configuration = usual
    .replace('port: 0,', 'port: 0, store: "${DATABASE}",')
    .replace('{folder}', shared)
  const files = {
    'reveille.yaml': configuration,
    'mappings/chat.yaml':
      'mappings: [{ id: chat, match: { path: chat }, action: wake, textTemplate: "{{text}}" }]\n',
  }
  const nodes: Installation[] = []
  for (const node of names) {
    const role = node.startsWith('in') ? 'ingress' : 'all'
    nodes.push(await install(t, files, { env: { DATABASE: url }, cluster: { node, role, leases } }))
  }
  return nodes
}

/** Resolves with the status once it is as wanted. */
async function statusOf(
  node: Installation | undefined,
  isWanted: (status: GatewayStatus) => boolean,
): Promise<GatewayStatus> {
  for (let tries = 0; ; tries += 1) {
    const status = await node?.read<GatewayStatus>('/api/status')
    if (status !== undefined && isWanted(status)) return status
    if (tries === 300) throw new Error(`the status stays ${JSON.stringify(status?.nodes)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const leadsOf = ({ nodes }: GatewayStatus) =>
  Object.fromEntries(nodes.map(({ name, leads }) => [name, leads.toSorted()]))

test('a run that an ingress node accepts is performed by another node, and the sender that waits at the first is answered', async (t) => {
  const [ingress, worker] = await startNodes(t, 'ingress', 'worker')
  assert.ok(ingress && worker)
  const sent = { message: 'the tide is high today, all boats float', deliver: true }
  const answer = await ingress.post('/hooks/agent', sent, { prefer: 'wait=20' })
  assert.deepEqual([answer.status, answer.body['state']], [200, 'succeeded'], answer.text)
  await worker.ended(answer.body['runId'])

  const status = await statusOf(ingress, ({ nodes }) => nodes.length === 2)
  const [digest, ...others] = new Set(status.nodes.map((node) => node.digest))
  assert.deepEqual([others, status.nodes.map(({ role }) => role)], [[], ['ingress', 'all']])
  assert.deepEqual(leadsOf(status), { ingress: [], worker: ['maintenance', 'sources'] })
  assert.match(status.database?.version ?? '', /^\d+/)

  const record = await worker.read<RequestRecord>(`/api/requests/${answer.body['requestId']}`)
  assert.deepEqual([record.node, record.generationDigest], ['ingress', digest])
  for (const [filter, count] of [
    ['node=ingress', 1],
    ['node=worker', 0],
    ['generation=1', 1],
    [`generationDigest=${digest?.slice(0, 9)}`, 1],
    ['generationDigest=0123456789abcdef', 0],
  ] as const) {
    const page: Page<RequestRecord> = await worker.read(`/api/requests?${filter}`)
    assert.equal(page.items.length, count, filter)
  }

  const { reply } = await ingress.read<{ reply: string }>(`/api/runs/${answer.body['runId']}`)
  const echo = await ingress.post('/hooks/chat', { text: reply })
  assert.deepEqual([echo.status, echo.body['outcome']], [200, 'ignored'], 'its own words come back')
})

test('when the node that leads stops, another one leads, and performs what waits', async (t) => {
  const [ingress, first, second] = await startNodes(t, 'ingress', 'first', 'second')
  assert.ok(ingress && first && second)
  const all = ['maintenance', 'sources']
  await statusOf(ingress, (status) => leadsOf(status)['first']?.length === 2)
  await first.gateway.close({ graceMs: 0 })
  const status = await statusOf(ingress, (each) => leadsOf(each)['second']?.length === 2)
  assert.deepEqual(leadsOf(status), { ingress: [], second: all })
  const { body } = await ingress.post('/hooks/agent', { message: 'hello' })
  await second.ended(body['runId'])
})

test('a sign-in that ends at one node is refused by all, and no other sign-in is', async (t) => {
  const [first, second] = await startNodes(t, 'first', 'second')
  assert.ok(first && second)
  const origin = 'http://localhost:80'
  const signIn = async () => {
    const payload = JSON.stringify({ token: gatewayToken })
    const { headers, body } = await first.ask('/api/session', {
      method: 'POST',
      headers: { origin },
      payload,
    })
    const [cookie = ''] = String(headers['set-cookie'] ?? '').split('; ')
    return { origin, cookie, 'x-reveille-key': String(body['key']) }
  }
  const [one, other] = [await signIn(), await signIn()]
  const statuses = (node: Installation) =>
    Promise.all([one, other].map(async (headers) => (await node.ask('/api/status', { headers })).status))
  assert.deepEqual(
    [await statuses(first), await statuses(second)],
    [
      [200, 200],
      [200, 200],
    ],
  )
  assert.equal((await second.ask('/api/session', { method: 'DELETE', headers: one })).status, 200)
  for (const node of [first, second]) assert.deepEqual(await statuses(node), [401, 200])
})
