/**
 * Tries requests, stored and invented ones: by what is live, by a generation that is kept, or by mappings that were pasted. Nothing is
 * stored and nothing goes live; transforms are kept from leaving the process unless they may.
 */

import { dirname } from 'node:path'
import {
  type Configuration,
  containSnapshot,
  createCompiler,
  createThreadParser,
  type Decision,
  type Diagnostic,
  type Evaluators,
  type Explanation,
  explainRequest,
  type FieldPaths,
  fieldPathsOf,
  type HookRequest,
  loadPasted,
  type Randomness,
  type ReceivedRequest,
  type Reloader,
  receivedOf,
  type Snapshot,
} from '@reveille/engine'
import { formatPlace } from '@reveille/engine/text'
import { restoreRequest, trySurface } from '../http/index.ts'
import type { PluginHost } from '../plugin/index.ts'
import type { Reader, RequestRecord } from '../store/port.ts'
import { type Ending, testEntryOf } from './test-entry.ts'

export interface RequestDryRunsOptions {
  readonly read: Pick<Reader, 'request' | 'requests'>
  readonly reloader: Pick<Reloader, 'current' | 'source' | 'dryRun'>
  readonly plugins: Pick<PluginHost, 'catalog'>
  readonly randomness: Randomness
  readonly evaluators: Evaluators
  /** Strikes known secrets out of what becomes YAML, where lines and quotes could hide one. */
  readonly mask: (text: string) => string
}

export interface RequestDryRunTerms {
  /** The deciding configuration: the live one, a generation by its number, or pasted mappings. Default: the live one. */
  readonly by?: 'live' | number | { readonly mapping: string }
  /** True if transforms may use the network. Default: they are stopped where they would. */
  readonly callsOut?: boolean
  /** True if a test is written too. */
  readonly withTest?: boolean
}

export interface RequestDryRun {
  /** The request's outcome, without its actions: `explanation` has those without secrets. */
  readonly decision: object
  /** The HTTP status that the gateway would answer. */
  readonly status: number
  /** Its actions have the text in pieces, the author's apart from those from outside, and the prompt. */
  readonly explanation: Pick<Explanation, 'endpoint' | 'candidates' | 'actions'> & { readonly isForm?: true }
  /** Where transforms were stopped. */
  readonly stops: readonly DryRunStop[]
  /** A mapping file with a test that expects this. Absent: it cannot be one entry. */
  readonly test?: string
  /** Findings about pasted mappings. */
  readonly diagnostics?: readonly Diagnostic[]
}

export interface DryRunStop {
  readonly module: string
  readonly target: string
  /** `file:line:column`, relative to the configuration's folder. */
  readonly place?: string
}

export type RequestDryRunAnswer =
  | ({ readonly ok: true } & RequestDryRun)
  | { readonly ok: false; readonly why: 'GENERATION_NOT_KEPT' }
  /** The pasted mappings, or those of the generation, do not compile. */
  | { readonly ok: false; readonly why: 'NOT_COMPILED'; readonly diagnostics: readonly Diagnostic[] }

export type RequestDryRuns = ReturnType<typeof createRequestDryRuns>

/** By this name requestDryRuns share the threads with senders, so that they never take all of them. */
const sender = 'a dry run'

/** A pasted text whose parsing takes longer is refused. Milliseconds. */
const parseDeadlineMs = 10_000
const parserIdleMs = 10_000

export function createRequestDryRuns(options: RequestDryRunsOptions) {
  const { reloader, mask } = options
  const pasted = createPastedMappings(options)

  /** Never rejects for what the request or the mappings say. @throws Error where nothing is live, or no more */
  async function run(
    received: ReceivedRequest,
    { by = 'live', callsOut = false, withTest = false }: RequestDryRunTerms = {},
  ): Promise<RequestDryRunAnswer> {
    const through = async (snapshot: Snapshot) => {
      const { ending, ...tried } = await explain(received, snapshot, callsOut)
      const written = withTest && (await testEntryOf(ending, received, snapshot, mask))
      return { ...tried, ...(written && 'yaml' in written && { test: written.yaml }) }
    }
    if (by === 'live') return { ok: true, ...(await through(reloader.current().snapshot)) }
    if (typeof by === 'object') return throughPasted(await pasted.compiled(by.mapping), through)
    const { result, seen } = await reloader.dryRun(({ candidate }) => through(candidate), by, true)
    if (seen) return { ok: true, ...seen }
    const { diagnostics } = result
    const isKept = diagnostics[0]?.code !== 'GENERATION_NOT_KEPT'
    return isKept
      ? { ok: false, why: 'NOT_COMPILED', diagnostics }
      : { ok: false, why: 'GENERATION_NOT_KEPT' }
  }

  return {
    run,
    /** Returns what is known of the payloads of an endpoint: from the newest that are kept, and from its tests. */
    fieldPaths: (endpoint: string) => fieldPathsIn(options, endpoint),
    /** Returns the requests of the endpoint's tests, as samples to try. */
    samples: (endpoint: string) => samplesIn(reloader.source().configuration.tests, endpoint),
    /** Writes a `tests:` entry of a stored request. */
    testEntry: (record: RequestRecord, received: ReceivedRequest) =>
      testEntryOf(record, received, reloader.current().snapshot, mask),
    /** Says why a pasted text does not compile; nothing where it does. */
    async check(text: string): Promise<readonly Diagnostic[]> {
      const { ok, diagnostics } = await pasted.compiled(text)
      return ok ? [] : diagnostics
    },
    close: pasted.close,
  }
}

async function explain(
  received: ReceivedRequest,
  snapshot: Snapshot,
  callsOut: boolean,
): Promise<RequestDryRun & { readonly ending: Ending }> {
  const dryRun = callsOut ? 'call-out' : 'refuse'
  const tried = await explainRequest(received, snapshot, trySurface, { dryRun, sender })
  const { endpoint, candidates, actions } = tried.explanation
  const folder = dirname(snapshot.settings.file)
  const stops = tried.stops.map(({ module, target, place }) => ({
    module,
    target,
    ...(place && { place: formatPlace(place, folder) }),
  }))
  const isForm = tried.request?.isForm === true && { isForm: true as const }
  return {
    ending: endingOf(received.endpoint, tried.decision, tried.status),
    decision: endOf(tried.decision),
    status: tried.status,
    explanation: { endpoint, candidates, actions, ...isForm },
    stops,
  }
}

type Compiled =
  | { readonly ok: true; readonly snapshot: Snapshot; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

async function throughPasted(
  compiled: Compiled,
  through: (snapshot: Snapshot) => Promise<RequestDryRun>,
): Promise<RequestDryRunAnswer> {
  const { diagnostics } = compiled
  if (!compiled.ok) return { ok: false, why: 'NOT_COMPILED', diagnostics }
  return { ok: true, ...(await through(compiled.snapshot)), ...(diagnostics.length > 0 && { diagnostics }) }
}

/** Compiles what is pasted, and keeps the last, since an author tries the same mappings with several payloads. */
function createPastedMappings({ reloader, plugins, randomness, evaluators }: RequestDryRunsOptions) {
  const parser = createThreadParser({ deadlineMs: parseDeadlineMs, idleMs: parserIdleMs })
  let last:
    | { readonly text: string; readonly live: Snapshot; readonly compiled: Promise<Compiled> }
    | undefined

  async function compile(text: string): Promise<Compiled> {
    const { configuration: live, transforms } = reloader.source()
    const loaded = await loadPasted(live, text, parser)
    if (!loaded.ok) return loaded
    const { configuration } = loaded
    const catalog = plugins.catalog(configuration.settings)
    const compiled = await createCompiler({ randomness }).compile(configuration, catalog, transforms)
    if (!compiled.ok) return compiled
    const parts = { configuration, catalog, evaluators, mint: randomness.mint }
    return { ok: true, snapshot: containSnapshot(compiled, parts), diagnostics: compiled.warnings }
  }

  return {
    compiled(text: string): Promise<Compiled> {
      const { snapshot: live } = reloader.current()
      if (last?.text !== text || last.live !== live) last = { text, live, compiled: compile(text) }
      return last.compiled
    },
    close: () => parser.close(),
  }
}

async function fieldPathsIn(
  { read, reloader }: Pick<RequestDryRunsOptions, 'read' | 'reloader'>,
  endpoint: string,
): Promise<FieldPaths> {
  const { snapshot } = reloader.current()
  const kept: ReceivedRequest[] = []
  const { items } = await read.requests({ endpoint, limit: lookedAt })
  for (const { id } of items) {
    if (kept.length === maxPayloads) break
    const record = await read.request(id)
    const received = record && restoreRequest(record)
    if (received !== undefined) kept.push(received)
  }
  const samples = reloader
    .source()
    .configuration.tests.filter(({ value }) => value.request.endpoint === endpoint)
    .slice(0, maxPayloads)
    .map(receivedOf)
  const admitted: HookRequest[] = []
  for (const received of [...kept, ...samples]) {
    const request = await trySurface.receive(received, snapshot)
    // Reading a long payload would hold up the main loop.
    if (!('code' in request) && request.isUndecoded !== true) admitted.push(request)
  }
  return fieldPathsOf(admitted)
}

function samplesIn(tests: Configuration['tests'], endpoint: string) {
  return tests
    .filter(({ value }) => value.request.endpoint === endpoint)
    .flatMap((test) => {
      const { name, request } = test.value
      const { body } = receivedOf(test)
      if (body.byteLength > maxSampleBytes) return []
      const { headers = {}, query = {} } = request
      return [{ name, file: test.origin.name, headers, query, body: Buffer.from(body).toString() }]
    })
    .slice(0, maxSamples)
}

const maxSamples = 100
/** In bytes. */
const maxSampleBytes = 65_536

/** Number of requests that are searched for kept bodies, and maximum number of bodies that are read. */
const lookedAt = 50
const maxPayloads = 20

function endingOf(endpoint: string, decision: Decision, status: number): Ending {
  const actions = decision.outcome === 'accepted' ? decision.actions : []
  return {
    endpoint,
    ...decision,
    status,
    actions: actions.map((action) => ({
      kind: action.kind,
      ...(action.kind === 'agent' && action.sessionKeyGiven && { sessionKey: action.sessionKey }),
    })),
  }
}

/** JSON has no form for the cause of a failure, and the actions are in the explanation. */
function endOf(decision: Decision): object {
  if (decision.outcome === 'accepted') {
    const { outcome, mapping, warnings } = decision
    return { outcome, ...(mapping !== undefined && { mapping }), ...(warnings && { warnings }) }
  }
  if (!('code' in decision)) return decision
  const { cause: _cause, ...rest } = decision
  return rest
}
