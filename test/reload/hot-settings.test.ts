/** Tests which settings a running gateway applies, and which wait for a restart. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../installation.ts'
import { goFile, startsFile } from '../rehearsal-plugin/runners.ts'

const limit = { timeout: 15_000 }

/** The content of each section's braces. */
interface Sections {
  readonly gateway?: string
  readonly log?: string
  readonly adminToken?: string
  readonly history?: string
  readonly hooks?: string
  readonly channels?: string
  readonly agents?: string
}

const board = 'board: { folder: "{folder}" }'

function configured({
  gateway = 'port: 0',
  log = 'level: debug, format: json',
  adminToken = gatewayToken,
  history = '',
  hooks = `enabled: true, token: ${hookToken}`,
  channels = board,
  agents = 'route: { channel: board, to: team }',
}: Sections): string {
  return `gateway: { ${gateway}, auth: { token: ${adminToken} }, log: { ${log} } }
history: { ${history} }
hooks: { ${hooks} }
plugins: ["${rehearsalPlugin}"]
channels: { ${channels} }
agents: { ${agents} }
`
}

async function open(t: TestContext, sections: Sections = {}) {
  const installed = await install(t, { 'reveille.yaml': configured(sections) }, { watch: true })
  return {
    ...installed,
    /** Resolves once the sections are live. */
    async edit(changed: Sections) {
      const before = installed.gateway.current().generation
      await installed.write('reveille.yaml', configured(changed))
      await until(
        () => installed.gateway.current().generation !== before || undefined,
        'the other generation',
      )
    },
  }
}

const wake = { text: 'hi', mode: 'next-heartbeat' }
const statusOf = async ({ post }: Installation, path: string, token = hookToken) =>
  (await post(path, wake, { authorization: `Bearer ${token}` })).status

test('hooks.path moves at once', limit, async (t) => {
  const installed = await open(t)
  assert.equal(await statusOf(installed, '/hooks/wake'), 200)
  await installed.edit({ hooks: `enabled: true, token: ${hookToken}, path: /in/here` })
  assert.equal(await statusOf(installed, '/in/here/wake'), 200)
  assert.equal(await statusOf(installed, '/hooks/wake'), 404)
})

test('hooks, and tokens in addresses, can be turned off and on', limit, async (t) => {
  const installed = await open(t)
  const statuses = async () => {
    const inAddress = await installed.post(`/hooks/wake?token=${hookToken}`, wake, { authorization: '' })
    return [await statusOf(installed, '/hooks/wake'), inAddress.status]
  }
  assert.deepEqual(await statuses(), [200, 200])
  await installed.edit({ hooks: `enabled: true, token: ${hookToken}, allowQueryToken: false` })
  assert.deepEqual(await statuses(), [200, 401])
  await installed.edit({ hooks: `enabled: false, token: ${hookToken}` })
  assert.deepEqual(await statuses(), [404, 404])
  await installed.edit({})
  assert.deepEqual(await statuses(), [200, 200])
})

test(
  'history.maxBodyBytes bounds the bodies that are kept, those of accepted requests too, and changes at once',
  limit,
  async (t) => {
    const installed = await open(t, { history: 'bodies: all, maxBodyBytes: 2KiB' })
    const kept = async () => {
      const { items } = await installed.read<{ items: readonly { id: string }[] }>('/api/requests')
      const records = await Promise.all(
        items.map(({ id }) => installed.read<{ bodyKept: boolean }>(`/api/requests/${id}`)),
      )
      return records.map(({ bodyKept }) => bodyKept)
    }
    const send = () => installed.post('/hooks/wake', { ...wake, text: 'x'.repeat(1_000) })
    assert.equal((await send()).status, 200)
    await send()
    assert.deepEqual(await kept(), [true, false])
    await installed.edit({ history: 'bodies: all, maxBodyBytes: 10MiB' })
    await send()
    assert.deepEqual(await kept(), [true, true, false])
  },
)

test('tokens rotate without a gap, because both are good while the list has both', limit, async (t) => {
  const installed = await open(t)
  const statuses = async () => [
    await statusOf(installed, '/hooks/wake', hookToken),
    await statusOf(installed, '/hooks/wake', 'rotated-hook-token'),
  ]
  assert.deepEqual(await statuses(), [200, 401])
  await installed.edit({ hooks: `enabled: true, token: [${hookToken}, rotated-hook-token]` })
  assert.deepEqual(await statuses(), [200, 200])
  await installed.edit({ hooks: 'enabled: true, token: rotated-hook-token' })
  assert.deepEqual(await statuses(), [401, 200])
})

test('the gateway token changes at once', limit, async (t) => {
  const { ask, edit } = await open(t)
  const as = async (token: string) =>
    (await ask('/api/runs', { headers: { authorization: `Bearer ${token}` } })).status
  assert.deepEqual([await as(gatewayToken), await as('rotated-gateway-token')], [200, 401])
  await edit({ adminToken: 'rotated-gateway-token' })
  assert.deepEqual([await as(gatewayToken), await as('rotated-gateway-token')], [401, 200])
})

test('the log level applies to the lines after the change', limit, async (t) => {
  const installed = await open(t)
  const { edit, lines } = installed
  const accepted = async () => {
    await installed.post('/hooks/wake', wake)
    return lines('request-accepted').length
  }
  assert.equal(await accepted(), 1)
  await edit({ log: 'level: error, format: json' })
  assert.equal(await accepted(), 1)
  await edit({ log: 'level: info, format: json' })
  assert.equal(await accepted(), 2)
})

test('agents.route sends the replies after the change elsewhere', limit, async (t) => {
  const installed = await open(t)
  const { post, ended, edit, read } = installed
  const runOne = async () => {
    const { body } = await post('/hooks/agent', { message: 'hi', wakeMode: 'next-heartbeat' })
    await ended(body['runId'])
  }
  await runOne()
  await edit({ agents: 'route: { channel: board, to: others }' })
  await until(
    async () => (await read<{ route: { to: string } }>('/api/route')).route.to === 'others' || undefined,
    'the new route',
  )
  await runOne()
  assert.deepEqual(
    (await installed.board()).map(({ to }) => to),
    ['team', 'others'],
  )
})

test('a channel that is configured while the gateway runs delivers at once', limit, async (t) => {
  const installed = await open(t, { channels: '', agents: '' })
  const toBoard = { message: 'hi', channel: 'board', to: 'team', wakeMode: 'next-heartbeat' }
  const refused = await installed.post('/hooks/agent', toBoard)
  assert.deepEqual([refused.status, refused.body['code']], [400, 'CHANNEL_NOT_CONFIGURED'])
  await installed.edit({ agents: '' })
  const { status, body } = await installed.post('/hooks/agent', toBoard)
  assert.equal(status, 202)
  const { reply } = await installed.ended(body['runId'])
  assert.deepEqual(await installed.board(), [{ to: 'team', text: reply }])
})

test('the log format applies to the lines after the change', limit, async (t) => {
  const installed = await open(t)
  const { edit, lines, log } = installed
  await installed.post('/hooks/wake', wake)
  await edit({ log: 'level: debug, format: pretty' })
  await installed.post('/hooks/wake', wake)
  assert.equal(lines('request-accepted').length, 1)
  assert.match(log(), /\n\d\d:\d\d:\d\d {2}accepted {4}\/wake/)
  await edit({ log: 'level: debug' })
  await installed.post('/hooks/wake', wake)
  assert.equal(lines('request-accepted').length, 2, 'no terminal')
  assert.doesNotMatch(log(), /restart/)
})

/** A runner that waits for the test. */
const patient = (concurrency: number) =>
  `defaults: { runner: patient, concurrency: ${concurrency} }, runners: { patient: { kind: patient, folder: "{folder}" } }`
const run = { message: 'hi', wakeMode: 'next-heartbeat', deliver: false }

async function openPatient(t: TestContext) {
  const installed = await open(t, { agents: patient(1) })
  const started = async () =>
    (await readFile(join(installed.folder, startsFile), 'utf8').catch(() => '')).split('\n').length - 1
  return {
    ...installed,
    started,
    untilStarted: (count: number) =>
      until(async () => ((await started()) >= count ? true : undefined), `${count} turns under way`),
  }
}

test('agents.defaults.concurrency starts more turns, or waits until running ones end', limit, async (t) => {
  const { post, ended, edit, write, started, untilStarted, lines } = await openPatient(t)
  const ids = []
  for (let count = 0; count < 4; count++) ids.push((await post('/hooks/agent', run)).body['runId'])
  await untilStarted(1)
  await edit({ agents: patient(3) })
  await untilStarted(3)
  await edit({ agents: patient(1) })
  assert.equal(await started(), 3)
  await write(goFile, '*\n')
  for (const id of ids) await ended(id)
  assert.deepEqual(lines('restart-required'), [])
})

test('gateway.limits.backlog accepts and refuses at once', limit, async (t) => {
  const { post, edit, lines } = await openPatient(t)
  const backlog = (limit: number) =>
    edit({ gateway: `port: 0, limits: { backlog: ${limit} }`, agents: patient(1) })
  const statusAndCode = async () => {
    const { status, body } = await post('/hooks/agent', run)
    return [status, body['code']]
  }
  assert.deepEqual(await statusAndCode(), [202, undefined])
  await backlog(1)
  assert.deepEqual(await statusAndCode(), [503, 'BACKLOG'])
  await backlog(2)
  assert.deepEqual(await statusAndCode(), [202, undefined])
  assert.deepEqual(await statusAndCode(), [503, 'BACKLOG'])
  assert.deepEqual(lines('restart-required'), [])
})

test('a shorter history.keep takes effect at once', limit, async (t) => {
  const mappings = 'mappings: [{ match: { path: quiet, when: "false" }, action: wake, text: x }]'
  const hooks = `enabled: true, token: ${hookToken}, ${mappings}`
  const { post, ask, edit, lines } = await open(t, { hooks })
  const { body, headers } = await post('/hooks/quiet', {})
  assert.equal(body['outcome'], 'ignored')
  const becomes = (wanted: number) =>
    until(async () => {
      const { status } = await ask(`/api/requests/${headers['x-request-id']}`)
      return status === wanted ? true : undefined
    }, `its request to be answered with ${wanted}`)
  await becomes(200)
  await edit({ hooks, history: 'keep: 1ms' })
  await becomes(404)
  assert.deepEqual(lines('restart-required'), [])
})

test('gateway.trustedProxies decides the client address from the next request on', limit, async (t) => {
  const { post, line, edit, lines } = await open(t)
  const client = async () => {
    const { body } = await post('/hooks/wake', wake, { 'x-forwarded-for': '203.0.113.7' })
    return (await line('request-accepted', ({ requestId }) => requestId === body['requestId']))['client']
  }
  assert.equal(await client(), '127.0.0.1')
  await edit({ gateway: 'port: 0, trustedProxies: [loopback]' })
  assert.equal(await client(), '203.0.113.7')
  await edit({ gateway: 'port: 0, trustedProxies: [10.0.0.0/8]' })
  assert.equal(await client(), '127.0.0.1')
  assert.deepEqual(lines('restart-required'), [])
})

test('boot-only keys keep their values, and are reported as waiting for a restart', limit, async (t) => {
  const installed = await open(t)
  const { edit, line, folder, gateway } = installed
  const address = await gateway.listen()
  await edit({
    gateway: 'port: 1, host: 127.0.0.9, dataDir: ./elsewhere',
    hooks: `enabled: true, token: ${hookToken}, path: /in`,
  })
  const warning = await line('restart-required')
  assert.deepEqual(
    [warning['keys'], warning.level],
    [['gateway.host', 'gateway.port', 'gateway.dataDir'], 40],
  )
  assert.equal((await fetch(`${address}/readyz`)).status, 200, 'it listens where it did')
  assert.equal(await statusOf(installed, '/in/wake'), 200, 'what is hot in the same edit went live')
  assert.ok(!existsSync(join(folder, 'elsewhere')))
})
