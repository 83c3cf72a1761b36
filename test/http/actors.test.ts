/** Tests that whatever an operator does names its actor: in the log, and on the record that it changes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteDeclaration } from '../../runtime/api/routes/declaration.ts'
import { routes } from '../../runtime/api/routes/index.ts'
import { configuration, gatewayToken, type Installation, install, until } from '../installation.ts'

const actor = 'ada'
const token = 'token-of-ada-4fK29sLq0ZpVx81mWnB7cRtY'

const yaml = (runs: number) =>
  `history: { bodies: all }\n${configuration}`
    .replace(
      `auth: { token: ${gatewayToken} }`,
      `auth: { token: ${gatewayToken}, tokens: [{ name: ${actor}, token: ${token}, may: configure }] }`,
    )
    .replace(
      'hooks: { enabled: true,',
      `hooks: { enabled: true, endpoints: { costly: { budget: { runs: ${runs} } } },`,
    )
    .replace(
      'agents: {',
      'agents: { runners: { blabbing: { kind: blabbing, folder: "{folder}" }, patient: { kind: patient, folder: "{folder}" } },',
    )

const files = {
  'reveille.yaml': yaml(1),
  'mappings/all.yaml': `mappings:
  - { id: plain, match: { path: plain }, message: hello }
  - { id: fails, match: { path: fails }, message: hello, runner: blabbing }
  - { id: waits, match: { path: waits }, message: hello, runner: patient }
  - { id: costly, match: { path: costly }, message: hello }
  - { id: nobody, match: { path: nobody }, message: hello, to: nobody }
`,
}

type Kept = Readonly<Record<string, unknown>>

interface Action {
  /** The operation of the API. */
  readonly does: keyof typeof routes
  /** The address and the body. */
  readonly asks: (gateway: Installation) => Promise<readonly [path: string, payload?: object]>
  /** The event in the log that says what was done, beside that of every action. */
  readonly logs?: string
  /** The record, and its field that has the name. `order`: the newest order of a run. */
  readonly keeps?: (gateway: Installation, answer: Kept, path: string) => Promise<unknown>
}

const runOf = async ({ post, read }: Installation, endpoint: string, state: string): Promise<string> => {
  const { body } = await post(`/hooks/${endpoint}`, {})
  const id = String(body['runId'])
  await until(
    async () => (await read<Kept>(`/api/runs/${id}`))['state'] === state || undefined,
    `${endpoint} to be ${state}`,
  )
  return id
}
const parkedDelivery = async (gateway: Installation): Promise<string> => {
  const run = await runOf(gateway, 'nobody', 'succeeded')
  return until(async () => {
    const { deliveries } = await gateway.read<{ deliveries: Kept[] }>(`/api/runs/${run}`)
    return deliveries[0]?.['state'] === 'parked' ? String(deliveries[0]['id']) : undefined
  }, 'a delivery to be parked')
}
/** The delivery that an order about many was about. */
let parked = ''
const requestOf = async ({ post }: Installation) => String((await post('/hooks/plain', {})).body['requestId'])
const byOf = async ({ read }: Installation, path: string, field = 'by') => (await read<Kept>(path))[field]
const orderOf = (order: string) => async (gateway: Installation, _answer: Kept, path: string) => {
  const id = path.split('/')[3] ?? ''
  const found = /^[0-9a-f-]{36}$/.test(id) ? id : await newestRun(gateway, order)
  const { orders = [] } = await gateway.read<{ orders?: Kept[] }>(`/api/runs/${found}`)
  return orders.at(-1)?.['order'] === order ? orders.at(-1)?.['by'] : undefined
}
/** The runs that orders about many were about. */
const newestRun = async ({ read }: Installation, order: string) => {
  const endpoint = order === 'retry' ? 'fails' : 'costly'
  const { items } = await read<{ items: { id: string }[] }>(`/api/runs?endpoint=${endpoint}&limit=1`)
  return items[0]?.id
}
/** The issue about the runner that fails. */
const ofIssue = async ({ read }: Installation, more = {}): Promise<object> => {
  const key = await until(async () => {
    const { items } = await read<{ items: { key: string }[] }>('/api/issues')
    return items.find(({ key }) => key.startsWith('RUNNER_FAILS'))?.key
  }, 'the issue about the runner')
  return { key, ...more }
}
let muted = ''

const actions: readonly Action[] = [
  {
    does: 'setRoute',
    asks: async () => ['/api/route', { channel: 'board', to: 'team' }],
    logs: 'route-set',
    keeps: (gateway) => byOf(gateway, '/api/route'),
  },
  {
    does: 'sendDelivery',
    asks: async () => ['/api/deliveries', { channel: 'board', to: 'team', text: 'hello' }],
    logs: 'delivery-send-asked',
    keeps: (gateway, { deliveryId }) => byOf(gateway, `/api/deliveries/${deliveryId}`),
  },
  {
    does: 'replayDelivery',
    asks: async (gateway) => [`/api/deliveries/${await parkedDelivery(gateway)}/replay`],
    logs: 'delivery-replay-asked',
    keeps: (gateway, { deliveryId }) => byOf(gateway, `/api/deliveries/${deliveryId}`),
  },
  {
    does: 'replayDeliveries',
    asks: async (gateway) => {
      parked = await parkedDelivery(gateway)
      return ['/api/deliveries/replay', { channel: 'board' }]
    },
    logs: 'delivery-replay-asked',
    // The newest delivery may be that of a heartbeat that has shown the run's summary.
    keeps: (gateway) => byOf(gateway, `/api/deliveries/${parked}`),
  },
  {
    does: 'cancelRun',
    asks: async (gateway) => [`/api/runs/${await runOf(gateway, 'waits', 'running')}/cancel`],
    logs: 'run-cancel-asked',
    keeps: orderOf('cancel'),
  },
  {
    does: 'retryRun',
    asks: async (gateway) => [`/api/runs/${await runOf(gateway, 'fails', 'failed')}/retry`],
    logs: 'run-retry-asked',
    keeps: orderOf('retry'),
  },
  {
    does: 'retryRuns',
    asks: async (gateway) => {
      await runOf(gateway, 'fails', 'failed')
      return ['/api/runs/retry', { state: 'failed' }]
    },
    logs: 'run-retry-asked',
    keeps: orderOf('retry'),
  },
  {
    does: 'reload',
    asks: async (gateway) => {
      await runOf(gateway, 'costly', 'succeeded')
      await runOf(gateway, 'costly', 'parked')
      await gateway.write('reveille.yaml', yaml(100))
      return ['/api/reload']
    },
    keeps: (gateway) => byOf(gateway, '/api/generations/2'),
  },
  {
    does: 'resumeRun',
    asks: async (gateway) => [`/api/runs/${await newestRun(gateway, 'resume')}/resume`],
    logs: 'run-resume-asked',
    keeps: orderOf('resume'),
  },
  {
    does: 'rollBack',
    asks: async () => ['/api/generations/1/rollback'],
    keeps: (gateway) => byOf(gateway, '/api/generations/1'),
  },
  {
    does: 'resumeRuns',
    asks: async (gateway) => {
      await runOf(gateway, 'costly', 'parked')
      await gateway.ask('/api/reload', { method: 'POST' })
      return ['/api/runs/resume', {}]
    },
    logs: 'run-resume-asked',
    keeps: orderOf('resume'),
  },
  {
    does: 'replayRequest',
    asks: async (gateway) => [`/api/requests/${await requestOf(gateway)}/replay`, {}],
    logs: 'request-replay-asked',
    keeps: (gateway, { requestId }) => byOf(gateway, `/api/requests/${requestId}`),
  },
  {
    does: 'replayRequests',
    asks: async (gateway) => {
      await requestOf(gateway)
      return ['/api/requests/replay', { filter: { endpoint: 'plain' } }]
    },
    logs: 'replay-job-begun',
    keeps: async (gateway, { job }) => {
      await until(
        async () => (await byOf(gateway, `/api/jobs/${job}`, 'state')) === 'done' || undefined,
        'the end of the job',
      )
      const { items } = await gateway.read<{ items: Kept[] }>('/api/requests?endpoint=plain&limit=1')
      return items[0]?.['by'] === (await byOf(gateway, `/api/jobs/${job}`)) ? items[0]?.['by'] : undefined
    },
  },
  {
    does: 'cancelJob',
    asks: async (gateway) => {
      for (let count = 0; count < 5; count += 1) await requestOf(gateway)
      const payload = JSON.stringify({ filter: { endpoint: 'plain' }, deliverAgain: true })
      const { body } = await gateway.ask('/api/requests/replay', { method: 'POST', payload })
      return [`/api/jobs/${body['job']}/cancel`]
    },
    logs: 'replay-job-cancelled',
  },
  {
    does: 'forgetRequests',
    asks: async (gateway) => {
      const { items } = await gateway.read<{ items: { id: string }[] }>(
        '/api/requests?endpoint=nobody&limit=1',
      )
      return ['/api/requests/forget', { ids: [items[0]?.id] }]
    },
    logs: 'requests-forgotten',
    keeps: async (gateway) => {
      const { items } = await gateway.read<{ items: Kept[] }>('/api/requests?endpoint=nobody&limit=1')
      return items[0]?.['forgottenBy']
    },
  },
  {
    does: 'muteIssue',
    asks: async (gateway) => ['/api/issues/mute', await ofIssue(gateway)],
    logs: 'issue-muted',
  },
  { does: 'reopenIssue', asks: async () => ['/api/issues/reopen', { key: muted }], logs: 'issue-reopened' },
  {
    does: 'resolveIssue',
    asks: async (gateway) => ['/api/issues/resolve', await ofIssue(gateway)],
    logs: 'issue-resolved',
  },
  {
    does: 'saveMapping',
    asks: async () => [
      '/api/mappings',
      { file: 'saved.yaml', mapping: '{ id: saved, match: { path: saved }, message: hello }' },
    ],
    keeps: async ({ gateway, ...more }) =>
      byOf({ gateway, ...more }, `/api/generations/${gateway.current().generation}`),
  },
  { does: 'tryRequest', asks: async () => ['/api/try', { endpoint: 'plain', payload: '{}' }] },
]

/** They change nothing but who is signed in. */
const ofSignIns = ['signIn', 'signOut']

test('whatever an operator does names its actor, in the log and on the record that it changes', async (t) => {
  const changing = Object.entries<RouteDeclaration>(routes).filter(
    ([name, { method }]) => method !== 'GET' && !ofSignIns.includes(name),
  )
  assert.deepEqual(
    actions.map(({ does }) => does).sort(),
    changing.map(([name]) => name).sort(),
    'the table has each action',
  )
  const gateway = await install(t, files)
  for (const { does, asks, logs, keeps } of actions) {
    await t.test(does, async () => {
      const [path, payload] = await asks(gateway)
      const seen = (event: string) => gateway.lines(event).length
      const before = logs === undefined ? 0 : seen(logs)
      const { status, body, text } = await gateway.ask(path, {
        method: routes[does].method as 'POST',
        headers: { authorization: `Bearer ${token}` },
        ...(payload && { payload: JSON.stringify(payload) }),
      })
      assert.ok(status === 200 || status === 202, `${status} ${text}`)
      const line = await gateway.line('admin-action', ({ action }) => action === does)
      assert.deepEqual([line['by'], line['status']], [actor, status])
      if (does === 'muteIssue') muted = String(body['key'])
      if (logs !== undefined) {
        const lines = gateway.lines(logs).slice(before)
        assert.ok(lines.length > 0, `it logs ${logs}`)
        assert.deepEqual([...new Set(lines.map(({ by }) => by))], [actor])
      }
      if (keeps) assert.equal(await keeps(gateway, body, path), actor)
    })
  }
})
