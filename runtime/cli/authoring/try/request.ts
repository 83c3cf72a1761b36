/** Builds the request for `try` and `explain` from their options, as the gateway would receive it. */

import { authOf, nearestName, parseFields, type ReceivedRequest, type Snapshot } from '@reveille/engine'
import { badUsage } from '../../command-failure.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { readGivenFile, readRequestFile } from '../../request-file.ts'

/** A request without its endpoint. */
type RequestInput = Omit<ReceivedRequest, 'endpoint'>

/** @throws CommandFailure (bad usage) for a body that cannot be read, or a malformed header or query */
export async function readRequest(
  io: Io,
  { payload, header = [], query = [] }: CommandOptions,
): Promise<RequestInput> {
  if (payload === undefined)
    throw badUsage('Name the body with --payload FILE; --payload - reads standard input.')
  const given: Record<string, string> = Object.create(null)
  for (const line of header) {
    const [name, value] = pairOf(line, ':', "--header 'name: value'")
    const earlier = given[name.toLowerCase()]
    // As Node.js's HTTP server does with repeated headers.
    given[name.toLowerCase()] = earlier === undefined ? value : `${earlier}, ${value}`
  }
  const pairs = query.map((pair) => pairOf(pair, '=', "--query 'name=value'"))
  const requestFile = payload.endsWith('.http') ? await readRequestFile(payload, io) : undefined
  const headers = { ...requestFile?.headers, ...given }
  const isForm = payload.endsWith('.form') && headers['content-type'] === undefined
  if (isForm) headers['content-type'] = 'application/x-www-form-urlencoded'
  const sent = requestFile?.target.split('?').slice(1).join('?')
  const asked = new URLSearchParams([...new URLSearchParams(sent), ...pairs])
  const standardInput = payload === '-' ? ((await io.input?.()) ?? new Uint8Array()) : undefined
  const body = requestFile?.rawBody ?? standardInput ?? (await readGivenFile(payload, io))
  return { headers, query: parseFields(asked.toString()), body, now: io.now() }
}

function pairOf(text: string, separator: string, usage: string): [string, string] {
  const at = text.indexOf(separator)
  if (at < 1) throw badUsage(`"${text}" is not written as ${usage}.`)
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

/** Says that the endpoint asks for a signature, which is not checked here. Returns lines. */
export function describeSignature(endpoint: string, snapshot: Snapshot): string[] {
  const auth = authOf(snapshot.effectivePolicyOf(endpoint) ?? {})
  const isSigned = auth === 'signature' || auth === 'both'
  return isSigned
    ? ['signature  not checked; `reveille doctor signature` checks that of a recorded request']
    : []
}

/** The name of an endpoint, which may be given as its path or its address. */
export function endpointIn(given: string, hooksPath: string): string {
  const path = /^https?:\/\//.test(given) && URL.canParse(given) ? new URL(given).pathname : given
  return (path.startsWith(`${hooksPath}/`) ? path.slice(hooksPath.length) : path).replace(/^\/+/, '')
}

/** Names the endpoints that exist instead of an unknown one. Returns lines. */
export function describeEndpoints(endpoint: string, snapshot: Snapshot): string[] {
  const paths = snapshot.mappings.map(({ path }) => path).filter((each) => each !== undefined)
  const known = [...new Set([...paths, ...Object.keys(snapshot.endpoints)])].sort()
  const nearest = nearestName(endpoint, known)
  return [
    ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
    `Endpoints: ${[...known, 'wake', 'agent'].join(', ')}`,
  ]
}
