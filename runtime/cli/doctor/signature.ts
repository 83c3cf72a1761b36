/** `reveille doctor signature`: says whether a request would be accepted as one of its sender, and if not, what differs. */

import { existsSync } from 'node:fs'
import path from 'node:path'
import {
  diagnose,
  holdsUnset,
  parseFields,
  type Snapshot,
  UnavailableError,
  type VerifyDependencies,
  writePath,
} from '@reveille/engine'
import { createEndpointAuthTables, presentedToken } from '../../http/index.ts'
import { createDownloads } from '../../trust/index.ts'
import { withSnapshot } from '../authoring/compile.ts'
import { describeEndpoints, endpointIn } from '../authoring/try/request.ts'
import { CommandFailure } from '../command-failure.ts'
import { type Io, paintFor } from '../io.ts'
import { type FiledRequest, readRequestFile } from '../request-file.ts'
import { formatDiagnosis } from './signature-text.ts'

export interface SignatureOptions {
  readonly config?: string
  readonly endpoint: string
  readonly request: string
  readonly now?: string
  readonly offline?: boolean
  readonly json?: boolean
}

/** Resolves with the exit code: 0 where the request would be accepted, else 1. @throws CommandFailure */
export async function doctorSignature(given: SignatureOptions, io: Io): Promise<number> {
  const now = given.now === undefined ? io.now() : parseTime(given.now)
  if (now === undefined)
    throw new CommandFailure(2, '--now wants a time such as 2026-01-31T12:00:00Z, or Unix seconds.')
  if (isRecordId(given.request, io)) throw new CommandFailure(2, idIsNotEnough)
  const request = await readRequestFile(given.request, io)
  return withSnapshot(given, io, async (snapshot) => {
    const endpoint = endpointIn(given.endpoint, snapshot.settings.hooks.path)
    checkKeys(endpoint, snapshot)
    if (!snapshot.covers(endpoint)) return reportUnknown(endpoint, snapshot, given, io)
    const closing = new AbortController()
    const dependencies = given.offline ? offline : createOnline(io, closing.signal)
    try {
      const asked = endpointOf(endpoint, request, snapshot)
      const diagnosis = await diagnose(
        { ...request, now },
        asked,
        othersThan(endpoint, snapshot),
        dependencies,
      )
      if (given.json)
        io.out(`${JSON.stringify({ ok: diagnosis.taken, endpoint, results: [diagnosis] }, null, 2)}\n`)
      else
        io.out(
          formatDiagnosis(diagnosis, {
            endpoint,
            isNowGiven: given.now !== undefined,
            paint: paintFor(io),
            columns: io.columns,
          }),
        )
      if (!snapshot.settings.hooks.enabled)
        io.err('`hooks.enabled` is false: the gateway would answer 404 to everyone.\n')
      return diagnosis.taken ? 0 : 1
    } finally {
      closing.abort()
    }
  })
}

/** Other commands take the id of a request, which may be given here by mistake. */
function isRecordId(given: string, { cwd }: Io): boolean {
  return /^[0-9a-f-]{4,36}$/i.test(given) && !existsSync(path.resolve(cwd, given))
}

const idIsNotEnough =
  'An id is not enough: the gateway does not store the bodies of requests that it refuses. Save what was sent as an HTTP message, and name that file.'

/** Above this a number counts milliseconds: as seconds it would be the year 5138. */
const mostSeconds = 100_000_000_000

/** Parses ISO 8601, Unix seconds or milliseconds into milliseconds since the Unix epoch; undefined for anything else. */
function parseTime(given: string): number | undefined {
  const time = /^\d{1,15}(?:\.\d{1,9})?$/.test(given)
    ? Math.round(Number(given) * (Number(given) < mostSeconds ? 1000 : 1))
    : Date.parse(/^\d{4}-\d{2}-\d{2}/.test(given) ? given : '')
  return Number.isNaN(new Date(time).getTime()) ? undefined : time
}

/** Refuses to verify with a text that only replaces a secret which is not set. @throws CommandFailure */
function checkKeys(endpoint: string, snapshot: Snapshot): void {
  const { verify } = snapshot.policyOf(endpoint) ?? {}
  const { auth } = createEndpointAuthTables()(snapshot).authFor(endpoint)
  const keys = [verify, ...(auth === 'token' || auth === 'both' ? [snapshot.settings.hooks.tokens] : [])]
  if (!keys.some(holdsUnset)) return
  throw new CommandFailure(1, `Not checked: what /${endpoint} is verified with is not set.`)
}

/** Says what the endpoint asks for, and whether the gateway would accept the token that came. */
function endpointOf(
  endpoint: string,
  { headers, target }: FiledRequest,
  snapshot: Snapshot,
): Parameters<typeof diagnose>[1] {
  const { auth, verify: provider, findToken } = createEndpointAuthTables()(snapshot).authFor(endpoint)
  const { verify } = snapshot.policyOf(endpoint) ?? {}
  const query = parseFields(target.split('?').slice(1).join('?'))
  const signedTokens = auth === 'both' ? provider?.value.tokenHeaders : undefined
  const given = presentedToken(headers, query, snapshot.settings.hooks.allowQueryToken, signedTokens)
  if (given === undefined) return { auth, verify, token: 'missing' }
  const match = findToken(given.token)
  if (match === undefined) return { auth, verify, token: 'wrong' }
  return { auth, verify, token: match.index === 0 ? 'right' : 'older' }
}

/** Returns the other configured secrets, which the sender may have been given in place of the right one. */
function othersThan(endpoint: string, { endpoints, settings }: Snapshot) {
  const others = Object.entries(endpoints).flatMap(([name, { verify }]) =>
    verify === undefined || name === endpoint
      ? []
      : [{ place: writePath(['endpoints', name, 'verify']), verify }],
  )
  return [...others, { place: 'hooks.token', verify: { secret: settings.hooks.tokens } }]
}

function createOnline(io: Io, signal: AbortSignal): VerifyDependencies {
  const timers = { setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms), clearTimeout }
  return createDownloads({ web: { fetch: io.fetch, timers, signal }, now: io.now })
}

const offline: VerifyDependencies = {
  download: () => Promise.reject(new UnavailableError('Nothing is fetched with --offline.')),
}

function reportUnknown(endpoint: string, snapshot: Snapshot, { json }: SignatureOptions, io: Io): number {
  if (json) io.out(`${JSON.stringify({ ok: false, endpoint, code: 'NOT_FOUND', results: [] }, null, 2)}\n`)
  else {
    const head = `/${endpoint}  404  refused  NOT_FOUND  no mapping and no policy covers this endpoint`
    io.out(`${[head, '', ...describeEndpoints(endpoint, snapshot)].join('\n')}\n`)
  }
  return 1
}
