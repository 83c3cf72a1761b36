/**
 * Measures resident memory. All gateways of a comparison live at the same time, so that they are waited for once; no memory is counted less
 * for that, because each is charged what it shares with the others too.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { fire } from './client.ts'
import { residentMegabytes } from './kernel.ts'
import type { Comparison, Sample } from './measure.ts'
import { wake } from './requests.ts'
import { type Checkout, type GatewayOptions, hookToken, type Server, startGateway } from './server.ts'

const restSeconds = 20
const flood = 120_000
const secondsAfterFlood = 60
const transforms = 20
const headers = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` }

interface Kind {
  readonly name: string
  readonly gateway?: GatewayOptions
  /** Seconds that a gateway is busy before the next one is started, and seconds that it rests. */
  readonly busySeconds: number
  readonly restSeconds: number
  /** Prepares the server while no other gateway is being started. */
  readonly prepare?: (server: Server) => Promise<void>
  readonly measure: (server: Server) => Promise<Sample>
}

const kinds: readonly Kind[] = [
  {
    name: 'memory, idle',
    busySeconds: 1,
    restSeconds,
    async measure({ pid }) {
      await pause(restSeconds * 1000)
      return { megabytes: residentMegabytes(pid) }
    },
  },
  {
    name: `memory, a minute after a flood of ${flood.toLocaleString('en')} wakes`,
    busySeconds: 10,
    restSeconds: secondsAfterFlood,
    async prepare({ url }) {
      await fire({ url: `${url}/hooks/wake`, headers, bodies: [wake] }, { connections: 32, requests: flood })
    },
    async measure({ pid }) {
      const highestMegabytes = residentMegabytes(pid)
      await pause(secondsAfterFlood * 1000)
      return { megabytes: residentMegabytes(pid), highestMegabytes }
    },
  },
  {
    name: `memory, ${transforms} transforms of one line`,
    gateway: { files: transformFiles() },
    busySeconds: 2,
    restSeconds: 2 * restSeconds,
    async measure({ pid, url, readyMs }) {
      await pause(restSeconds * 1000)
      const megabytes = residentMegabytes(pid)
      for (let number = 0; number < transforms; number++) {
        const shot = { url: `${url}/hooks/${number}`, headers, bodies: ['{"title":"Green again"}'] }
        await fire(shot, { connections: 1, requests: 1 })
      }
      await pause(restSeconds * 1000)
      return { megabytes, megabytesOnceCalled: residentMegabytes(pid), readyMs }
    },
  },
]

export function memoryComparisons(checkouts: readonly Checkout[], rounds: number): readonly Comparison[] {
  return kinds.map((kind) => ({
    name: kind.name,
    compared: 'megabytes',
    variants: checkouts.map(({ name }) => name),
    openSeconds: kind.restSeconds + kind.busySeconds * rounds * checkouts.length,
    sampleSeconds: 0,
    open: () => open(kind, checkouts, rounds),
  }))
}

async function open(kind: Kind, checkouts: readonly Checkout[], rounds: number) {
  const servers: Server[] = []
  const samples = new Map(checkouts.map(({ name }) => [name, [] as Promise<Sample>[]]))
  const close = async () => {
    for (const server of servers) await server.stop()
  }
  try {
    for (let round = 0; round < rounds; round++) {
      for (const checkout of checkouts) {
        const server = await startGateway({ ...kind.gateway, checkout })
        servers.push(server)
        await kind.prepare?.(server)
        const sample = kind.measure(server)
        // An error is thrown where the sample is taken; until then it is not an unhandled one.
        sample.catch(() => {})
        samples.get(checkout.name)?.push(sample)
      }
    }
  } catch (error) {
    await close()
    throw error
  }
  return { take: (variant: string) => samples.get(variant)?.shift() as Promise<Sample>, close }
}

function transformFiles(): Readonly<Record<string, string>> {
  const numbers = Array.from({ length: transforms }, (_, number) => number)
  const mappings = numbers.map(
    (number) =>
      `  - { id: transform-${number}, match: { path: "${number}" }, message: "{{title}}", deliver: false, transform: { module: transform-${number}.ts } }\n`,
  )
  const module = (number: number) => `import { defineTransform, prompt } from '@reveille/engine/transform'

export default defineTransform(({ payload }) => ({ message: prompt\`${number}: \${payload.title}\` }))
`
  return {
    'mappings/transforms.yaml': `mappings:\n${mappings.join('')}`,
    ...Object.fromEntries(numbers.map((number) => [`transforms/transform-${number}.ts`, module(number)])),
  }
}
