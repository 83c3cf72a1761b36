/** Measures resolving by the number of mappings. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { catalog, configurationOf, countingRandomness, type Mapping } from '../../engine/compile/fixture.ts'
import { type Configuration, createCompiler, type HookRequest, type Snapshot } from '../../engine/index.ts'
import type { Bed, Comparison, Sample } from './measure.ts'
import { pullRequest } from './payload.ts'

const sizes = [10, 100, 1_000, 10_000] as const
type Size = (typeof sizes)[number]

/** A distinguishing feature of mappings, and a request for one of them. */
interface Kind {
  readonly name: string
  readonly match: (position: number) => Mapping['match']
  readonly request: (position: number) => Partial<HookRequest> & { readonly payload: object }
}

const calls = 3_000
/** Number of requests made before a round, spread over the mappings. */
const spread = 50

export function resolveComparisons(): readonly Comparison[] {
  return kindsOf(JSON.parse(pullRequest)).map((kind) => ({
    name: `resolve, ${kind.name}`,
    compared: 'us',
    variants: sizes.map(variantOf),
    openSeconds: 4,
    sampleSeconds: 0.1,
    open: () => open(kind),
  }))
}

function kindsOf(payload: object): readonly Kind[] {
  const repository = 'repository' in payload ? payload.repository : undefined
  const named = (position: number) => ({
    ...payload,
    repository: { ...(repository as object), full_name: `harbour-lights/repository-${position}` },
  })
  return [
    {
      name: 'one endpoint, by a field',
      match: (position) => ({
        path: 'bench',
        body: { action: 'opened', repository: { full_name: `harbour-lights/repository-${position}` } },
      }),
      request: (position) => ({ endpoint: 'bench', payload: named(position) }),
    },
    {
      name: 'one endpoint, by a condition of three clauses',
      match: (position) => ({
        path: 'bench',
        when: `action = "opened" and pull_request.draft = false and repository.full_name = "harbour-lights/repository-${position}"`,
      }),
      request: (position) => ({ endpoint: 'bench', payload: named(position) }),
    },
    {
      name: 'one endpoint, by a header',
      match: (position) => ({ path: 'bench', headers: { 'x-tenant': `tenant-${position}` } }),
      request: (position) => ({ endpoint: 'bench', payload, headers: { 'x-tenant': `tenant-${position}` } }),
    },
    {
      name: 'as many endpoints',
      match: (position) => ({ path: `bench-${position}` }),
      request: (position) => ({ endpoint: `bench-${position}`, payload }),
    },
    {
      name: 'as many endpoints, by a parameter',
      match: (position) => ({ path: `bench-${position}/:branch` }),
      request: (position) => ({ endpoint: `bench-${position}/main`, payload }),
    },
  ]
}

/** Compiles each size, and makes one round that warms up. */
async function open(kind: Kind): Promise<Bed> {
  const compiled = new Map<
    string,
    Awaited<ReturnType<typeof compile>> & { requests: readonly HookRequest[] }
  >()
  for (const size of sizes)
    compiled.set(variantOf(size), { ...(await compile(kind, size)), requests: requestsOf(kind, size) })
  const take = async (variant: string): Promise<Sample> => {
    const { snapshot, requests, ...cost } = compiled.get(variant) as NonNullable<
      ReturnType<typeof compiled.get>
    >
    return { us: await timeOf(snapshot, requests), ...cost }
  }
  for (const variant of compiled.keys()) await take(variant)
  return { take, close: async () => {} }
}

function variantOf(size: Size): string {
  return `${size.toLocaleString('en')} mappings`
}

async function compile(kind: Kind, size: Size) {
  const configuration = configurationOf(
    Array.from({ length: size }, (_, position) => mappingOf(kind, position)),
  )
  const before = heapMegabytes()
  const start = performance.now()
  const snapshot = await snapshotOf(configuration)
  const compiledMs = performance.now() - start
  return { snapshot, compiledMs, heapMegabytes: heapMegabytes() - before }
}

function mappingOf(kind: Kind, position: number): Mapping {
  return {
    id: `mapping-${position}`,
    match: kind.match(position),
    message: 'Review {{pull_request.title}} by {{sender.login}}',
    sessionKey: 'hook:bench:{{number}}',
  }
}

async function snapshotOf(configuration: Configuration): Promise<Snapshot> {
  const compiled = await createCompiler({ randomness: countingRandomness() }).compile(configuration, catalog)
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'))
  return compiled.snapshot
}

function requestsOf(kind: Kind, size: Size): readonly HookRequest[] {
  return Array.from({ length: spread }, (_, index) => {
    const request = kind.request(Math.floor((index * size) / spread))
    const rawBody = Buffer.from(JSON.stringify(request.payload))
    return { endpoint: 'bench', headers: {}, query: {}, now: 0, ...request, rawBody }
  })
}

/** Microseconds of one call. */
async function timeOf(snapshot: Snapshot, requests: readonly HookRequest[]): Promise<number> {
  const start = performance.now()
  for (let call = 0; call < calls; call++) {
    const decision = await snapshot.resolve(requests[call % requests.length] as HookRequest)
    if (decision.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(decision)}`)
  }
  return ((performance.now() - start) * 1000) / calls
}

function heapMegabytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed / 1e6
}
