/** Measures resolving by the number of mappings. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { catalog, configurationOf, countingRandomness, type Mapping } from '../../engine/compile/fixture.ts'
import { createCompiler, type HookRequest, type Snapshot } from '../../engine/index.ts'
import type { Comparison, Opened } from './measure.ts'
import { pullRequest } from './payload.ts'

const sizes = [10, 100, 1_000, 10_000]
const calls = 3_000
/** Number of requests made before a round, spread over the mappings. */
const spread = 50

/** A distinguishing feature of mappings, and a request for one of them. */
interface Kind {
  readonly match: (position: number) => Mapping['match']
  readonly request: (position: number) => Partial<HookRequest> & { readonly payload?: object }
}

const payload = JSON.parse(pullRequest) as { readonly repository: object }
const repositoryOf = (position: number) => `harbour-lights/repository-${position}`
const named = (position: number) => ({
  payload: { ...payload, repository: { ...payload.repository, full_name: repositoryOf(position) } },
})

const kinds: Readonly<Record<string, Kind>> = {
  'one endpoint, by a field': {
    match: (position) => ({
      path: 'bench',
      body: { action: 'opened', repository: { full_name: repositoryOf(position) } },
    }),
    request: named,
  },
  'one endpoint, by a condition of three clauses': {
    match: (position) => ({
      path: 'bench',
      when: `action = "opened" and pull_request.draft = false and repository.full_name = "${repositoryOf(position)}"`,
    }),
    request: named,
  },
  'one endpoint, by a header': {
    match: (position) => ({ path: 'bench', headers: { 'x-tenant': `tenant-${position}` } }),
    request: (position) => ({ headers: { 'x-tenant': `tenant-${position}` } }),
  },
  'as many endpoints, by a parameter': {
    match: (position) => ({ path: `bench-${position}/:branch` }),
    request: (position) => ({ endpoint: `bench-${position}/main` }),
  },
}

export function resolveComparisons(): readonly Comparison[] {
  return Object.entries(kinds).map(([name, kind]) => ({
    name: `resolve, ${name}`,
    compared: 'us',
    variants: sizes.map((size) => ({
      name: `${size.toLocaleString('en')} mappings`,
      open: () => open(kind, size),
    })),
  }))
}

/** Compiles, and makes one round that warms up. */
async function open(kind: Kind, size: number): Promise<Opened> {
  const mappings = Array.from({ length: size }, (_, position) => ({
    id: `mapping-${position}`,
    match: kind.match(position),
    message: 'Review {{pull_request.title}} by {{sender.login}}',
    sessionKey: 'hook:bench:{{number}}',
  }))
  const before = heapMegabytes()
  const start = performance.now()
  const compiler = createCompiler({ randomness: countingRandomness() })
  const compiled = await compiler.compile(configurationOf(mappings), catalog)
  const compiledMs = performance.now() - start
  if (!compiled.ok) throw new Error(compiled.diagnostics.map((diagnostic) => diagnostic.message).join('\n'))
  const { snapshot } = compiled
  const heap = heapMegabytes() - before
  const requests = Array.from({ length: spread }, (_, index) => {
    const request = { payload, ...kind.request(Math.floor((index * size) / spread)) }
    const rawBody = Buffer.from(JSON.stringify(request.payload))
    return { endpoint: 'bench', headers: {}, query: {}, now: 0, ...request, rawBody }
  })
  await timeOf(snapshot, requests)
  return { take: async () => ({ us: await timeOf(snapshot, requests), compiledMs, heapMegabytes: heap }) }
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
