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
type Asked = readonly [path: string, payload?: object]
type Page = { readonly items: readonly Kept[] }

interface Action {
  /** The address and the body. */
  readonly asks: Asked | ((gateway: Installation) => Promise<Asked>)
  /** The event in the log that says what was done, beside that of every action. */
  readonly logs?: string
  /** Returns the actor that the changed record names. */
  readonly keeps?: (gateway: Installation, answer: Kept, path: string) => Promise<unknown>
}

async function runOf({ post, read }: Installation, endpoint: string, state: string): Promise<string> {
  const { body } = await post(`/hooks/${endpoint}`, {})
  const id = String(body['runId'])
  const isThere = async () => (await read<Kept>(`/api/runs/${id}`))['state'] === state || undefined
  await until(isThere, `${endpoint} to be ${state}`)
  return id
}

async function parkedDelivery(gateway: Installation): Promise<string> {
  const run = await runOf(gateway, 'nobody', 'succeeded')
  return until(async () => {
    const { deliveries } = await gateway.read<{ deliveries: Kept[] }>(`/api/runs/${run}`)
    return deliveries[0]?.['state'] === 'parked' ? String(deliveries[0]['id']) : undefined
  }, 'a delivery to be parked')
}
/** The delivery that an order about many was about. */
let parked = ''
/** The key of the issue that was muted. */
let muted = ''

const newest = async ({ read }: Installation, list: string) =>
  (await read<Page>(`/api/${list}&limit=1`)).items[0]
const requestOf = async ({ post }: Installation) => String((await post('/hooks/plain', {})).body['requestId'])

/** Reads the actor of a record. */
const by =
  (path: (answer: Kept, gateway: Installation) => string): Action['keeps'] =>
  async (gateway, answer) =>
    (await gateway.read<Kept>(`/api/${path(answer, gateway)}`))['by']

/** Reads the actor of the newest order of a run: the one in the address, or the one that an order about many was about. */
const byOfOrder =
  (order: string): Action['keeps'] =>
  async (gateway, _answer, path) => {
    const [, , , id = ''] = path.split('/')
    const endpoint = order === 'retry' ? 'fails' : 'costly'
    const run = /^[0-9a-f-]{36}$/.test(id) ? id : (await newest(gateway, `runs?endpoint=${endpoint}`))?.['id']
    const { orders = [] } = await gateway.read<{ orders?: Kept[] }>(`/api/runs/${run}`)
    return orders.at(-1)?.['order'] === order ? orders.at(-1)?.['by'] : undefined
  }

/** The issue about the runner that fails. */
const issueOf = ({ read }: Installation) =>
  until(async () => {
    const { items } = await read<{ items: { key: string }[] }>('/api/issues')
    const found = items.find(({ key }) => key.startsWith('RUNNER_FAILS'))
    return found && { key: found.key }
  }, 'the issue about the runner')

const actions: Readonly<Partial<Record<keyof typeof routes, Action>>> = {
  setRoute: {
    asks: ['/api/route', { channel: 'board', to: 'team' }],
    logs: 'route-set',
    keeps: by(() => 'route'),
  },
  sendDelivery: {
    asks: ['/api/deliveries', { channel: 'board', to: 'team', text: 'hello' }],
    logs: 'delivery-send-asked',
    keeps: by(({ deliveryId }) => `deliveries/${deliveryId}`),
  },
  replayDelivery: {
    asks: async (gateway) => [`/api/deliveries/${await parkedDelivery(gateway)}/replay`],
    logs: 'delivery-replay-asked',
    keeps: by(({ deliveryId }) => `deliveries/${deliveryId}`),
  },
  replayDeliveries: {
    async asks(gateway) {
      parked = await parkedDelivery(gateway)
      return ['/api/deliveries/replay', { channel: 'board' }]
    },
    logs: 'delivery-replay-asked',
    // The newest delivery may be that of a heartbeat that has shown the run's summary.
    keeps: by(() => `deliveries/${parked}`),
  },
  cancelRun: {
    asks: async (gateway) => [`/api/runs/${await runOf(gateway, 'waits', 'running')}/cancel`],
    logs: 'run-cancel-asked',
    keeps: byOfOrder('cancel'),
  },
  retryRun: {
    asks: async (gateway) => [`/api/runs/${await runOf(gateway, 'fails', 'failed')}/retry`],
    logs: 'run-retry-asked',
    keeps: byOfOrder('retry'),
  },
  retryRuns: {
    async asks(gateway) {
      await runOf(gateway, 'fails', 'failed')
      return ['/api/runs/retry', { state: 'failed' }]
    },
    logs: 'run-retry-asked',
    keeps: byOfOrder('retry'),
  },
  reload: {
    async asks(gateway) {
      await runOf(gateway, 'costly', 'succeeded')
      await runOf(gateway, 'costly', 'parked')
      await gateway.write('reveille.yaml', yaml(100))
      return ['/api/reload']
    },
    keeps: by(() => 'generations/2'),
  },
  resumeRun: {
    asks: async (gateway) => [`/api/runs/${(await newest(gateway, 'runs?endpoint=costly'))?.['id']}/resume`],
    logs: 'run-resume-asked',
    keeps: byOfOrder('resume'),
  },
  rollBack: { asks: ['/api/generations/1/rollback'], keeps: by(() => 'generations/1') },
  resumeRuns: {
    async asks(gateway) {
      await runOf(gateway, 'costly', 'parked')
      await gateway.ask('/api/reload', { method: 'POST' })
      return ['/api/runs/resume', {}]
    },
    logs: 'run-resume-asked',
    keeps: byOfOrder('resume'),
  },
  replayRequest: {
    asks: async (gateway) => [`/api/requests/${await requestOf(gateway)}/replay`, {}],
    logs: 'request-replay-asked',
    keeps: by(({ requestId }) => `requests/${requestId}`),
  },
  replayRequests: {
    async asks(gateway) {
      await requestOf(gateway)
      return ['/api/requests/replay', { filter: { endpoint: 'plain' } }]
    },
    logs: 'replay-job-begun',
    async keeps(gateway, { job }) {
      const ended = await until(async () => {
        const found = await gateway.read<Kept>(`/api/jobs/${job}`)
        return found['state'] === 'done' ? found : undefined
      }, 'the end of the job')
      const request = await newest(gateway, 'requests?endpoint=plain')
      return request?.['by'] === ended['by'] ? ended['by'] : undefined
    },
  },
  cancelJob: {
    async asks(gateway) {
      for (let count = 0; count < 5; count += 1) await requestOf(gateway)
      const payload = JSON.stringify({ filter: { endpoint: 'plain' }, deliverAgain: true })
      const { body } = await gateway.ask('/api/requests/replay', { method: 'POST', payload })
      return [`/api/jobs/${body['job']}/cancel`]
    },
    logs: 'replay-job-cancelled',
  },
  forgetRequests: {
    async asks(gateway) {
      const request = await newest(gateway, 'requests?endpoint=nobody')
      return ['/api/requests/forget', { ids: [request?.['id']] }]
    },
    logs: 'requests-forgotten',
    keeps: async (gateway) => (await newest(gateway, 'requests?endpoint=nobody'))?.['forgottenBy'],
  },
  muteIssue: {
    async asks(gateway) {
      const issue = await issueOf(gateway)
      muted = issue.key
      return ['/api/issues/mute', issue]
    },
    logs: 'issue-muted',
  },
  reopenIssue: { asks: async () => ['/api/issues/reopen', { key: muted }], logs: 'issue-reopened' },
  resolveIssue: {
    asks: async (gateway) => ['/api/issues/resolve', await issueOf(gateway)],
    logs: 'issue-resolved',
  },
  saveMapping: {
    asks: [
      '/api/mappings',
      { file: 'saved.yaml', mapping: '{ id: saved, match: { path: saved }, message: hello }' },
    ],
    keeps: by((_, { gateway }) => `generations/${gateway.current().generation}`),
  },
  tryRequest: { asks: ['/api/try', { endpoint: 'plain', payload: '{}' }] },
}

/** They change nothing but who is signed in. */
const ofSignIns = ['signIn', 'signOut']

test('whatever an operator does names its actor, in the log and on the record that it changes', async (t) => {
  const changing = Object.entries<RouteDeclaration>(routes).filter(
    ([name, { method }]) => method !== 'GET' && !ofSignIns.includes(name),
  )
  const named = changing.map(([name]) => name)
  assert.deepEqual(Object.keys(actions).sort(), named.sort(), 'the table has each action')
  const gateway = await install(t, files)
  for (const [does, { asks, logs, keeps }] of Object.entries(actions)) {
    await t.test(does, async () => {
      const [path, payload] = typeof asks === 'function' ? await asks(gateway) : asks
      const before = logs === undefined ? 0 : gateway.lines(logs).length
      const { status, body, text } = await gateway.ask(path, {
        method: routes[does as keyof typeof actions].method as 'POST',
        headers: { authorization: `Bearer ${token}` },
        ...(payload && { payload: JSON.stringify(payload) }),
      })
      assert.ok(status === 200 || status === 202, `${status} ${text}`)
      const line = await gateway.line('admin-action', ({ action }) => action === does)
      assert.deepEqual([line['by'], line['status']], [actor, status])
      if (logs !== undefined) {
        const actors = new Set(
          gateway
            .lines(logs)
            .slice(before)
            .map((each) => each['by']),
        )
        assert.deepEqual([...actors], [actor], `${logs} is logged`)
      }
      if (keeps) assert.equal(await keeps(gateway, body, path), actor)
    })
  }
})
