/** `reveille doctor signature`: whether a request would be taken for one of its sender, and if not, what differs. */

import {
  type Diagnosis,
  diagnose,
  holdsUnset,
  type Snapshot,
  UnavailableError,
  type VerifyDependencies,
  writePath,
} from '@reveille/engine'
import { createDoors, type Entrance, parseFields, presentedToken } from '../../../http/index.ts'
import { createDownloads } from '../../../trust/index.ts'
import { withSnapshot } from '../../authoring/compile.ts'
import { describeEndpoints, endpointIn } from '../../authoring/trial/trial.ts'
import { CommandFailure } from '../../command-failure.ts'
import { type Io, paintFor } from '../../io.ts'
import { type FiledRequest, readRequests } from './request.ts'
import { formatDiagnosis } from './text.ts'
import { timeOf } from './time.ts'

export interface SignatureOptions {
  readonly config?: string
  readonly endpoint: string
  readonly request: string
  readonly now?: string
  readonly offline?: boolean
  readonly json?: boolean
}

export interface Diagnosed {
  readonly label?: string
  readonly diagnosis: Diagnosis
  /** Where the time comes from. */
  readonly clock: '--now' | 'the file' | 'now'
}

/** Resolves with the exit code: 0 where all requests would be taken, else 1. @throws CommandFailure */
export async function doctorSignature(given: SignatureOptions, io: Io): Promise<number> {
  const now = given.now === undefined ? undefined : timeOf(given.now)
  if (given.now !== undefined && now === undefined)
    throw new CommandFailure(2, '--now wants a time such as 2026-01-31T12:00:00Z, or Unix seconds.')
  const requests = await readRequests(given.request, io)
  return withSnapshot(given, io, async (snapshot) => {
    const endpoint = endpointIn(given.endpoint, snapshot.settings.hooks.path)
    const options = { ...given, endpoint }
    checkKeys(endpoint, snapshot)
    if (!snapshot.covers(endpoint)) return tellUnknown(endpoint, snapshot, options, io)
    const closing = new AbortController()
    const means = options.offline ? offline : downloads(io, closing.signal)
    try {
      const diagnosed: Diagnosed[] = []
      for (const request of requests)
        diagnosed.push(await diagnoseOne(request, now, snapshot, options, means, io))
      tell(diagnosed, snapshot, options, io)
      return diagnosed.every(({ diagnosis }) => diagnosis.taken) ? 0 : 1
    } finally {
      closing.abort()
    }
  })
}

/** Nothing is verified with what only stands in for a secret. @throws CommandFailure */
function checkKeys(endpoint: string, snapshot: Snapshot): void {
  const { verify } = snapshot.policyOf(endpoint) ?? {}
  const { auth } = createDoors()(snapshot).entranceOf(endpoint)
  const keys = [verify, ...(auth === 'token' || auth === 'both' ? [snapshot.settings.hooks.tokens] : [])]
  if (!keys.some(holdsUnset)) return
  throw new CommandFailure(1, `Not checked: what /${endpoint} is verified with is not set.`)
}

async function diagnoseOne(
  { label, method, target, url, headers, rawBody, now: filed, isBodyWrittenAnew }: FiledRequest,
  asked: number | undefined,
  snapshot: Snapshot,
  { endpoint }: SignatureOptions,
  means: VerifyDependencies,
  io: Io,
): Promise<Diagnosed> {
  const { hooks } = snapshot.settings
  const { verify } = snapshot.policyOf(endpoint) ?? {}
  const entrance = createDoors()(snapshot).entranceOf(endpoint)
  const request = {
    method,
    target: target ?? `${hooks.path}/${endpoint}`,
    headers,
    rawBody,
    now: asked ?? filed ?? io.now(),
    ...(url !== undefined && { url }),
    isBodyGuessed: isBodyWrittenAnew ?? false,
  }
  const token = stateOfToken(request, entrance, hooks)
  const diagnosis = await diagnose(
    request,
    { auth: entrance.auth, verify, token },
    othersThan(endpoint, snapshot),
    means,
  )
  const clock = asked !== undefined ? '--now' : filed !== undefined ? 'the file' : 'now'
  return { ...(label !== undefined && { label }), diagnosis, clock }
}

/** As the gateway would find it. */
function stateOfToken(
  { headers, target }: { readonly headers: FiledRequest['headers']; readonly target: string },
  { auth, verify, findToken }: Entrance,
  { allowQueryToken }: Snapshot['settings']['hooks'],
): 'right' | 'older' | 'wrong' | 'missing' {
  const query = parseFields(target.split('?').slice(1).join('?'))
  const taken = auth === 'both' ? verify?.value.tokenHeaders : undefined
  const given = presentedToken(headers, query, allowQueryToken, taken)
  if (given === undefined) return 'missing'
  const found = findToken(given.token)
  if (found === undefined) return 'wrong'
  return found.index === 0 ? 'right' : 'older'
}

/** What a sender may have been given in place of the right secret, as it stands in the configuration. */
function othersThan(endpoint: string, { endpoints, settings }: Snapshot) {
  const others = Object.entries(endpoints).flatMap(([name, { verify }]) =>
    verify === undefined || name === endpoint
      ? []
      : [{ place: writePath(['endpoints', name, 'verify']), verify }],
  )
  return [...others, { place: 'hooks.token', verify: { secret: settings.hooks.tokens } }]
}

function downloads(io: Io, signal: AbortSignal): VerifyDependencies {
  const timers = { setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms), clearTimeout }
  return createDownloads({ web: { fetch: io.fetch, timers, signal }, now: io.now })
}

const offline: VerifyDependencies = {
  download: () => Promise.reject(new UnavailableError('Nothing is fetched with --offline.')),
}

function tell(
  diagnosed: readonly Diagnosed[],
  snapshot: Snapshot,
  { endpoint, json }: SignatureOptions,
  io: Io,
): void {
  if (json) {
    const results = diagnosed.map(({ label, diagnosis }) => ({ label, ...diagnosis }))
    const ok = results.every(({ taken }) => taken)
    io.out(`${JSON.stringify({ ok, endpoint, results }, null, 2)}\n`)
  } else {
    const setting = { endpoint, paint: paintFor(io), columns: io.columns }
    io.out(diagnosed.map((each) => formatDiagnosis(each, setting)).join('\n'))
  }
  if (!snapshot.settings.hooks.enabled)
    io.err('`hooks.enabled` is false: the gateway would answer 404 to everyone.\n')
}

function tellUnknown(endpoint: string, snapshot: Snapshot, { json }: SignatureOptions, io: Io): number {
  if (json) io.out(`${JSON.stringify({ ok: false, endpoint, code: 'NOT_FOUND', results: [] }, null, 2)}\n`)
  else {
    const head = `/${endpoint}  404  refused  NOT_FOUND  no mapping and no policy covers this endpoint`
    io.out(`${[head, '', ...describeEndpoints(endpoint, snapshot)].join('\n')}\n`)
  }
  return 1
}
