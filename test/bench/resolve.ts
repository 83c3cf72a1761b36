/** Measures resolving by the number of mappings, as a ratio to ten mappings in the same round. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { catalog, configurationOf, countingRandomness, type Mapping } from '../../engine/compile/fixture.ts'
import { compileSnapshot, type HookRequest, type Snapshot } from '../../engine/index.ts'

export const sizes = [10, 100, 1_000, 10_000] as const
type Size = (typeof sizes)[number]

/** What distinguishes the mappings, and a request for one of them. */
interface Kind {
  readonly name: string
  readonly match: (position: number) => Mapping['match']
  readonly request: (position: number) => Partial<HookRequest> & { readonly payload: object }
}

export interface Scaling {
  readonly name: string
  /** The median of the rounds, by size. */
  readonly microseconds: readonly number[]
  readonly ratios: readonly number[]
  /** The value of the largest size. */
  readonly compiled: { readonly ms: number; readonly megabytes: number }
}

const calls = 1_000
/** How many requests are made before a round, spread over the mappings. */
const spread = 50

export async function measureResolve(
  payload: object,
  rounds: number,
  progress: (text: string) => void,
): Promise<readonly Scaling[]> {
  const scalings: Scaling[] = []
  for (const kind of kindsOf(payload)) {
    progress(`resolve, ${kind.name}: compiling`)
    const { snapshots, compiled } = compileAll(kind)
    scalings.push(await measureKind(kind, snapshots, compiled, rounds, progress))
  }
  return scalings
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

function compileAll(kind: Kind): Pick<Scaling, 'compiled'> & { readonly snapshots: readonly Snapshot[] } {
  let compiled = { ms: 0, megabytes: 0 }
  const snapshots = sizes.map((size) => {
    const configuration = configurationOf(
      Array.from({ length: size }, (_, position) => mappingOf(kind, position)),
    )
    const before = heapMegabytes()
    const start = performance.now()
    const snapshot = snapshotOf(configuration)
    const ms = performance.now() - start
    compiled = { ms, megabytes: heapMegabytes() - before }
    return snapshot
  })
  return { snapshots, compiled }
}

function mappingOf(kind: Kind, position: number): Mapping {
  return {
    id: `mapping-${position}`,
    match: kind.match(position),
    message: 'Review {{pull_request.title}} by {{sender.login}}',
    sessionKey: 'hook:bench:{{number}}',
  }
}

function snapshotOf(configuration: Parameters<typeof compileSnapshot>[0]): Snapshot {
  const compiled = compileSnapshot(configuration, catalog, countingRandomness())
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'))
  return compiled.snapshot
}

/** The sizes take turns in every round, in another order each time, so that a noisy moment favours none. */
async function measureKind(
  kind: Kind,
  snapshots: readonly Snapshot[],
  compiled: Scaling['compiled'],
  rounds: number,
  progress: (text: string) => void,
): Promise<Scaling> {
  const requests = sizes.map((size) => requestsOf(kind, size))
  const times: number[][] = []
  for (let round = 0; round <= rounds; round++) {
    progress(`resolve, ${kind.name}: round ${round} of ${rounds}`)
    const ofRound: number[] = []
    for (const shift of sizes.keys()) {
      const at = (round + shift) % sizes.length
      ofRound[at] = await timeOf(snapshots[at] as Snapshot, requests[at] as readonly HookRequest[])
    }
    // The first round warms up.
    if (round > 0) times.push(ofRound)
  }
  return {
    name: kind.name,
    microseconds: sizes.map((_, at) => median(times.map((each) => each[at] as number))),
    ratios: sizes.map((_, at) => median(times.map((each) => (each[at] as number) / (each[0] as number)))),
    compiled,
  }
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

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

function heapMegabytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed / 1e6
}
