/** Tests which settings a running gateway applies, and which wait for a restart. */

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
import { goFile, startsFile } from '../rehearsal-plugin/runners.ts'
import { readLines } from '../text-file.ts'

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
const bothTokens = async (installed: Installation) => [
  await statusOf(installed, '/hooks/wake'),
  await statusOf(installed, '/hooks/wake', 'rotated-hook-token'),
]
const run = { message: 'hi', wakeMode: 'next-heartbeat', deliver: false }
const patient = (concurrency: number) =>
  `defaults: { runner: patient, concurrency: ${concurrency} }, runners: { patient: { kind: patient, folder: "{folder}" } }`
const backlog = (limit: number): Sections => ({
  gateway: `port: 0, limits: { backlog: ${limit} }`,
  agents: patient(1),
})

/** What is tried before the first edit and after each, and what it gives each time. */
const hot: readonly {
  readonly name: string
  readonly first?: Sections
  readonly ask: (installed: Installation) => Promise<unknown>
  readonly before: unknown
  readonly edits: readonly (readonly [Sections, unknown])[]
}[] = [
  {
    name: 'hooks.path moves at once',
    ask: async (installed) => [
      await statusOf(installed, '/hooks/wake'),
      await statusOf(installed, '/in/here/wake'),
    ],
    before: [200, 404],
    edits: [[{ hooks: `enabled: true, token: ${hookToken}, path: /in/here` }, [404, 200]]],
  },
  {
    name: 'hooks, and tokens in addresses, can be turned off and on',
    async ask(installed) {
      const inAddress = await installed.post(`/hooks/wake?token=${hookToken}`, wake, { authorization: '' })
      return [await statusOf(installed, '/hooks/wake'), inAddress.status]
    },
    before: [200, 200],
    edits: [
      [{ hooks: `enabled: true, token: ${hookToken}, allowQueryToken: false` }, [200, 401]],
      [{ hooks: `enabled: false, token: ${hookToken}` }, [404, 404]],
      [{}, [200, 200]],
    ],
  },
  {
    name: 'history.maxBodyBytes bounds the bodies that are kept, those of accepted requests too, and changes at once',
    first: { history: 'bodies: all, maxBodyBytes: 2KiB' },
    async ask({ post, read }) {
      await post('/hooks/wake', { ...wake, text: 'x'.repeat(1_000) })
      const { items } = await read<{ items: readonly { id: string }[] }>('/api/requests')
      const records = await Promise.all(
        items.map(({ id }) => read<{ bodyKept: boolean }>(`/api/requests/${id}`)),
      )
      return records.map(({ bodyKept }) => bodyKept)
    },
    before: [true],
    edits: [
      [{ history: 'bodies: all, maxBodyBytes: 2047B' }, [true, false]],
      [{ history: 'bodies: all, maxBodyBytes: 10MiB' }, [true, true, false]],
    ],
  },
  {
    name: 'tokens rotate without a gap, because both are good while the list has both',
    ask: bothTokens,
    before: [200, 401],
    edits: [
      [{ hooks: `enabled: true, token: [${hookToken}, rotated-hook-token]` }, [200, 200]],
      [{ hooks: 'enabled: true, token: rotated-hook-token' }, [401, 200]],
    ],
  },
  {
    name: 'the gateway token changes at once',
    ask: ({ ask }) =>
      Promise.all(
        [gatewayToken, 'rotated-gateway-token'].map(async (token) => {
          const headers = { authorization: `Bearer ${token}` }
          return (await ask('/api/runs', { headers })).status
        }),
      ),
    before: [200, 401],
    edits: [[{ adminToken: 'rotated-gateway-token' }, [401, 200]]],
  },
  {
    name: 'level and format of the log apply to the lines after the change',
    async ask({ post, lines, log }) {
      await post('/hooks/wake', wake)
      const readable = log().match(/\n\d\d:\d\d:\d\d {2}accepted {4}\/wake/g) ?? []
      return [lines('request-accepted').length, readable.length]
    },
    before: [1, 0],
    edits: [
      [{ log: 'level: error, format: json' }, [1, 0]],
      [{ log: 'level: debug, format: pretty' }, [1, 1]],
      // Without a terminal it is JSON.
      [{ log: 'level: info' }, [2, 1]],
    ],
  },
  {
    name: 'gateway.limits.backlog accepts and refuses at once',
    first: { agents: patient(1) },
    async ask({ post }) {
      const answers = [await post('/hooks/agent', run), await post('/hooks/agent', run)]
      return answers.map(({ status, body }) => body['code'] ?? status)
    },
    before: [202, 202],
    edits: [
      [backlog(2), ['BACKLOG', 'BACKLOG']],
      [backlog(3), [202, 'BACKLOG']],
    ],
  },
  {
    name: 'gateway.trustedProxies decides the client address from the next request on',
    async ask({ post, line }) {
      const { body } = await post('/hooks/wake', wake, { 'x-forwarded-for': '203.0.113.7' })
      return (await line('request-accepted', ({ requestId }) => requestId === body['requestId']))['client']
    },
    before: '127.0.0.1',
    edits: [
      [{ gateway: 'port: 0, trustedProxies: [loopback]' }, '203.0.113.7'],
      [{ gateway: 'port: 0, trustedProxies: [10.0.0.0/8]' }, '127.0.0.1'],
    ],
  },
]

for (const { name, first, ask, before, edits } of hot)
  test(name, limit, async (t) => {
    const installed = await open(t, first)
    assert.deepEqual(await ask(installed), before)
    for (const [sections, expected] of edits) {
      await installed.edit(sections)
      assert.deepEqual(await ask(installed), expected, JSON.stringify(sections))
    }
    assert.deepEqual(installed.lines('restart-required'), [])
    assert.doesNotMatch(installed.log(), /restart/)
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

test('agents.defaults.concurrency starts more turns, or waits until running ones end', limit, async (t) => {
  const { post, ended, edit, write, folder, lines } = await open(t, { agents: patient(1) })
  const started = async () => (await readLines(folder, startsFile)).length
  const untilStarted = (count: number) =>
    until(async () => (await started()) >= count || undefined, `${count} turns under way`)
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
