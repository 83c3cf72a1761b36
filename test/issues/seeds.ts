/** Twelve failures of one gateway: how each is caused, and what the issue about it must say. */

import { fileURLToPath } from 'node:url'
import {
  type Files,
  gatewayToken,
  hookToken,
  type Installation,
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
export interface Seed {
  readonly key: string
  readonly seed: (gateway: Installation) => Promise<unknown>
  readonly cause: RegExp
  readonly command: RegExp
}

export const seeds: Readonly<Record<string, Seed>> = {
  'a bad secret': {
    key: 'SIGNATURE_REFUSED:github',
    seed: ({ post }) =>
      post('/hooks/github', { number: 1 }, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }),
    cause: /\/github .*github.*x-hub-signature-256.*wrong secret/,
    command: /doctor signature --endpoint github/,
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
    command: /resume --all --code BUDGET$/,
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
    cause: /refused; generation 1 is still live: mappings\/broken\.yaml:2:\d+:.*mesage/,
    command: /check$/,
  },
  silence: {
    key: 'SILENCE:meter',
    seed: async () => {},
    cause: /No request has arrived at \/meter.*endpoints\.meter\.expectEvery expects a request every 1s/,
    command: /requests --endpoint meter/,
  },
  drift: {
    key: 'DRIFT:sensors:reading.celsius',
    async seed({ post }) {
      for (let n = 0; n < 100; n++) await post('/hooks/sensors', { n, reading: { celsius: 20 } })
      for (let n = 0; n < 20; n++) await post('/hooks/sensors', { n, reading: { kelvin: 293 } })
    },
    cause:
      /None of the last 20 .* has reading\.celsius, which mapping "sensor" uses; 100 of the 100 before had it/,
    command: /requests --endpoint sensors/,
  },
  'a run that times out': {
    key: 'TIMEOUTS:slow',
    seed: ({ post }) => post('/hooks/slowly', {}),
    cause: /mapping "slow" time out after 1 s \(runner sleeper\)/,
    command: /runs [0-9a-f-]{36}$/,
  },
  'a lost source': {
    key: 'SOURCE_STOPPED:ebb',
    seed: async () => {},
    cause: /source ebb fetches nothing.*closed this account/,
    command: /doctor$/,
  },
}

/** The gateway's files at its start. */
export const seededFiles: Files = {
  'reveille.yaml': configuration,
  'mappings/all.yaml': mappings,
  'transforms/order.ts': transform,
}

/** Causes all of them, and waits until each is an issue. */
export async function seedFailures(gateway: Installation): Promise<void> {
  for (const { seed } of Object.values(seeds)) await seed(gateway)
  await until(
    async () => {
      const { items } = await gateway.read<{ items: { key: string }[] }>('/api/issues')
      const keys = items.map(({ key }) => key)
      return Object.values(seeds).every(({ key }) => keys.includes(key)) || undefined
    },
    `the issues ${Object.values(seeds).map(({ key }) => key)}`,
  )
}
