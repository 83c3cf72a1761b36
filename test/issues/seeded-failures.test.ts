/**
 * Seeds twelve failures in one gateway, and finds the cause and the next step of each by `reveille issues` alone, and by one
 * request to the API.
 */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import type { IssueRecord } from '../../runtime/store/port.ts'
import {
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../installation.ts'

const failingPlugin = fileURLToPath(new URL('./failing-plugin', import.meta.url))

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  endpoints:
    github: { verify: { provider: github, secret: the-right-secret-of-github } }
    costly: { budget: { runs: 1 } }
    meter: { expectEvery: 1s }
plugins: ["${rehearsalPlugin}", "${failingPlugin}"]
channels: { board: { folder: "{folder}" }, locked: {} }
sources: { ebb: {} }
agents: { route: { channel: board, to: team } }
`

const mappings = `mappings:
  - { id: review, match: { path: github }, message: "Review {{number}}." }
  - { id: order, match: { path: orders }, message: "An order.", transform: { module: order.ts } }
  - { id: paid, match: { path: shop, body: { status: paid, currency: EUR } }, message: "Paid." }
  - { id: costs, match: { path: costly }, message: "Think." }
  - { id: reply, match: { path: replies }, message: "Answer.", channel: locked, to: us }
  - { id: repeated, match: { path: repeats }, message: "Once." }
  - { id: echo, match: { path: rounds }, message: "Round {{n}}.", coalesce: { key: "'all'", window: 1ms, maxRunsPerHour: 1 } }
  - { id: reading, match: { path: meter }, message: "{{value}}" }
  - { id: sensor, match: { path: sensors }, message: "It has {{reading.celsius}} degrees." , action: wake, text: "{{reading.celsius}}" }
  - { id: slow, match: { path: slowly }, message: "Wait.", runner: sleeper, timeoutSeconds: 1 }
`

const transform = `export default function order({ payload }) {
  return { message: payload.lines.map(({ name }) => name).join() }
}
`

/** Each seed causes one failure, and says what the issue about it must say. */
interface Seed {
  readonly key: string
  readonly seed: (gateway: Installation) => Promise<unknown>
  readonly cause: RegExp
  readonly command: RegExp
}

const seeds: Readonly<Record<string, Seed>> = {
  'a bad secret': {
    key: 'SIGNATURE_REFUSED:github',
    seed: ({ post }) =>
      post('/hooks/github', { number: 1 }, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }),
    cause: /\/github .*github.*x-hub-signature-256.*secret is another one/,
    command: /doctor signature --endpoint github/,
  },
  'a filter that misses': {
    key: 'FILTER_NEAR_MISS:paid',
    seed: ({ post }) => post('/hooks/shop', { status: 'Paid', currency: 'EUR' }),
    cause: /match\.body\.status of the mapping "paid".*wants "paid".*"Paid" came/,
    command: /explain [0-9a-f-]{36}$/,
  },
  'a throwing transform': {
    key: 'TRANSFORM_FAILING:order',
    seed: ({ post }) => post('/hooks/orders', { order: 7 }),
    cause: /TRANSFORM_FAILED.*order\.ts.*transforms\/order\.ts:2:\d+/,
    command: /try [0-9a-f-]{36}$/,
  },
  'a spent budget': {
    key: 'BUDGET_SPENT:endpoints.costly.budget',
    async seed({ post, ended }) {
      await ended((await post('/hooks/costly', {})).body['runId'])
      await post('/hooks/costly', {})
    },
    cause: /endpoints\.costly\.budget.*1 run a day.*spent/,
    command: /resume --all$/,
  },
  'a refusing channel': {
    key: 'CHANNEL_REFUSES:locked',
    seed: ({ post }) => post('/hooks/replies', {}),
    cause: /locked: bad-credential: The service does not know this key/,
    command: /doctor$/,
  },
  'a sender that repeats itself': {
    key: 'DUPLICATES:repeats',
    async seed({ post }) {
      for (let time = 0; time < 4; time++) await post('/hooks/repeats', {}, { 'idempotency-key': 'one' })
    },
    cause: /\/repeats repeats deliveries \(3 of 4 requests within an hour\)/,
    command: /requests --endpoint repeats --outcome duplicate$/,
  },
  'a loop': {
    key: 'LOOP:echo',
    async seed({ post, ended }) {
      await ended((await post('/hooks/rounds', { n: 1 })).body['runId'])
      await post('/hooks/rounds', { n: 2 })
    },
    cause: /mapping "echo" are parked.*loop/,
    command: /cancel [0-9a-f-]{36}$/,
  },
  'a refused reload': {
    key: 'RELOAD_REFUSED:files',
    async seed({ write, ask }) {
      await write('mappings/broken.yaml', 'mappings:\n  - { id: broken, mesage: x }\n')
      await ask('/api/reload', { method: 'POST' })
    },
    cause: /refused, and generation 1 serves on: mappings\/broken\.yaml:2:\d+:.*mesage/,
    command: /check$/,
  },
  silence: {
    key: 'SILENCE:meter',
    seed: async () => {},
    cause: /Nothing has come to \/meter.*endpoints\.meter\.expectEvery expects a request every 1s/,
    command: /requests --endpoint meter/,
  },
  drift: {
    key: 'DRIFT:sensors:reading.celsius',
    async seed({ post }) {
      for (let n = 0; n < 100; n++) await post('/hooks/sensors', { n, reading: { celsius: 20 } })
      for (let n = 0; n < 20; n++) await post('/hooks/sensors', { n, reading: { kelvin: 293 } })
    },
    cause:
      /mapping "sensor" reads reading\.celsius, which 100 of the 100 requests before had, and none of the last 20/,
    command: /requests --endpoint sensors/,
  },
  'a run that times out': {
    key: 'TIMEOUTS:slow',
    seed: ({ post }) => post('/hooks/slowly', {}),
    cause: /mapping "slow" do not end within their 1 s \(runner sleeper\)/,
    command: /runs [0-9a-f-]{36}$/,
  },
  'a lost source': {
    key: 'SOURCE_STOPPED:ebb',
    seed: async () => {},
    cause: /source ebb fetches nothing.*closed this account/,
    command: /doctor$/,
  },
}

test('of twelve seeded failures each is one issue with its cause and its next step', {
  timeout: 120_000,
}, async (t) => {
  const files = {
    'reveille.yaml': configuration,
    'mappings/all.yaml': mappings,
    'transforms/order.ts': transform,
  }
  const gateway = await install(t, files)
  const env = { REVEILLE_URL: await gateway.gateway.listen(), REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const { run } = await createCommandLine(t, {}, { env, fetch })
  for (const { seed } of Object.values(seeds)) await seed(gateway)
  const read = () => gateway.read<{ items: IssueRecord[] }>('/api/issues')
  await until(
    async () => {
      const keys = (await read()).items.map(({ key }) => key)
      return Object.values(seeds).every(({ key }) => keys.includes(key)) || undefined
    },
    `the issues ${Object.values(seeds).map(({ key }) => key)}`,
  )

  const began = performance.now()
  const { items } = await read()
  const { out: printed } = await run('issues')
  assert.ok(performance.now() - began < 10_000)

  const folded = printed.replaceAll(/\s+/g, ' ')
  for (const [what, { key, cause, command }] of Object.entries(seeds)) {
    const found = items.filter((issue) => issue.key === key)
    assert.equal(found.length, 1, what)
    const [issue] = found
    assert.equal(issue?.state, 'open', what)
    assert.match(issue?.cause ?? '', cause, what)
    assert.match(issue?.next.command ?? '', command, what)
    assert.ok(issue?.next.label, what)
    assert.ok(issue !== undefined && issue.count > 0 && issue.first <= issue.last, what)
    // The command line says the same.
    assert.ok(folded.includes(key), `${what}: ${key} is not in ${printed}`)
    assert.match(folded, new RegExp(cause.source.replace(/\$$/, '')), what)
  }
  // Nothing else is wrong with this gateway.
  const expected = Object.values(seeds).map(({ key }) => key)
  assert.deepEqual(
    items.map(({ key }) => key).filter((key) => !expected.includes(key)),
    [],
  )
  await checkEvents(gateway, items)
  await mendAll(gateway, files)
  const unmendable = ['BUDGET_SPENT', 'DUPLICATES', 'LOOP', 'SOURCE_STOPPED', 'TIMEOUTS']
  await until(async () => {
    const left = (await read()).items.filter(({ state }) => state === 'open').map(({ code }) => code)
    return left.every((code) => unmendable.includes(code)) || undefined
  }, 'the end of what was mended')
})

/** The main session gets at most one event about each issue, which shows nothing that a sender sent. */
async function checkEvents({ read }: Installation, issues: readonly IssueRecord[]): Promise<void> {
  const { items } = await read<{ items: { text: string; trusted: boolean }[] }>('/api/events?limit=500')
  const texts = items.map(({ text }) => text).filter((text) => text.startsWith('An issue is open'))
  assert.equal(new Set(texts).size, texts.length)
  for (const { code, subject } of issues) {
    const isSaid = texts.some((text) => text.includes(`(${code}, ${subject})`))
    // Dispatch posts events of its own about these two.
    assert.equal(isSaid, code !== 'LOOP' && code !== 'BUDGET_SPENT', `${code} ${subject}`)
  }
  assert.doesNotMatch(texts.join(), /Paid|lines|undefined|kelvin|[0-9a-f]{8}-[0-9a-f]{4}-7/)
}

/** Removes the causes, and lets requests show that they are gone. */
async function mendAll(
  { folder, post, write, ask }: Installation,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await rm(join(folder, 'mappings/broken.yaml'))
  await write('transforms/order.ts', 'export default () => ({ message: "An order." })\n')
  const mended = String(files['reveille.yaml'])
    .replace('locked: {}', 'locked: { key: right }')
    .replace('expectEvery: 1s', 'expectEvery: 1h')
  await write('reveille.yaml', mended)
  assert.equal((await ask('/api/reload', { method: 'POST' })).status, 200)
  const signed = JSON.stringify({ number: 2 })
  const signature = createHmac('sha256', 'the-right-secret-of-github').update(signed).digest('hex')
  await post('/hooks/github', signed, { 'x-hub-signature-256': `sha256=${signature}` })
  await post('/hooks/shop', { status: 'paid', currency: 'EUR' })
  await post('/hooks/orders', { order: 8 })
  await post('/hooks/meter', { value: 1 })
  await post('/hooks/sensors', { reading: { celsius: 21 } })
}
