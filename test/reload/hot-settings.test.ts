/** Which settings a running gateway takes up, and which it says it cannot. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
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

const limit = { timeout: 15_000 }

/** What stands between the braces of each section. */
interface Sections {
  readonly gateway?: string
  readonly level?: string
  readonly adminToken?: string
  readonly hooks?: string
  readonly channels?: string
  readonly agents?: string
}

const board = 'board: { folder: "{folder}" }'

function configured({
  gateway = 'port: 0',
  level = 'debug',
  adminToken = gatewayToken,
  hooks = `enabled: true, token: ${hookToken}`,
  channels = board,
  agents = 'route: { channel: board, to: team }',
}: Sections): string {
  return `gateway: { ${gateway}, auth: { token: ${adminToken} }, log: { level: ${level} } }
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
      await until(() => installed.gateway.current().generation > before || undefined, 'the next generation')
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

test('tokens rotate without a gap: both are good while the list has both', limit, async (t) => {
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

test('the gateway token is hot as well', limit, async (t) => {
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
  await edit({ level: 'error' })
  assert.equal(await accepted(), 1)
  await edit({ level: 'info' })
  assert.equal(await accepted(), 2)
})

test('agents.route sends the replies after the change elsewhere', limit, async (t) => {
  const installed = await open(t)
  const { post, ended, edit, read } = installed
  const run = async () => {
    const { body } = await post('/hooks/agent', { message: 'hi', wakeMode: 'next-heartbeat' })
    await ended(body['runId'])
  }
  await run()
  await edit({ agents: 'route: { channel: board, to: others }' })
  await until(
    async () => (await read<{ route: { to: string } }>('/api/route')).route.to === 'others' || undefined,
    'the new route',
  )
  await run()
  assert.deepEqual(
    (await installed.board()).map(({ to }) => to),
    ['team', 'others'],
  )
})

test('a channel that is configured while the gateway runs takes replies at once', limit, async (t) => {
  const installed = await open(t, { channels: '', agents: '' })
  const run = { message: 'hi', channel: 'board', to: 'team', wakeMode: 'next-heartbeat' }
  const refused = await installed.post('/hooks/agent', run)
  assert.deepEqual([refused.status, refused.body['code']], [400, 'CHANNEL_NOT_CONFIGURED'])
  await installed.edit({ agents: '' })
  const { status, body } = await installed.post('/hooks/agent', run)
  assert.equal(status, 202)
  const { reply } = await installed.ended(body['runId'])
  assert.deepEqual(await installed.board(), [{ to: 'team', text: reply }])
})

test('boot-only keys keep their values and are named as waiting for a restart', limit, async (t) => {
  const installed = await open(t)
  const { edit, line, folder, gateway } = installed
  const address = await gateway.listen()
  await edit({
    gateway: 'port: 1, host: 127.0.0.9, dataDir: ./elsewhere',
    hooks: `enabled: true, token: ${hookToken}, path: /in`,
  })
  const told = await line('restart-required')
  assert.deepEqual([told['keys'], told.level], [['gateway.host', 'gateway.port', 'gateway.dataDir'], 40])
  assert.equal((await fetch(`${address}/readyz`)).status, 200, 'it listens where it did')
  assert.equal(await statusOf(installed, '/in/wake'), 200, 'what is hot in the same edit went live')
  assert.ok(!existsSync(join(folder, 'elsewhere')))
})
