/** Builds the request for `try` and `explain` from their options, as the gateway would receive it. */

import { authOf, parseFields, type ReceivedRequest, type Snapshot } from '@reveille/engine'
import { nearestName } from '@reveille/engine/text'
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
  const options: Record<string, string> = Object.create(null)
  for (const line of header) {
    const [name, value] = splitPair(line, ':', "--header 'name: value'")
    const earlier = options[name.toLowerCase()]
    // As Node.js's HTTP server does with repeated headers.
    options[name.toLowerCase()] = earlier === undefined ? value : `${earlier}, ${value}`
  }
  const pairs = query.map((pair) => splitPair(pair, '=', "--query 'name=value'"))
  const requestFile = payload.endsWith('.http') ? await readRequestFile(payload, io) : undefined
  const headers = { ...requestFile?.headers, ...options }
  const isForm = payload.endsWith('.form') && headers['content-type'] === undefined
  if (isForm) headers['content-type'] = 'application/x-www-form-urlencoded'
  const fileQuery = requestFile?.target.split('?').slice(1).join('?')
  const parameters = new URLSearchParams([...new URLSearchParams(fileQuery), ...pairs])
  const standardInput = payload === '-' ? ((await io.input?.()) ?? new Uint8Array()) : undefined
  const body = requestFile?.rawBody ?? standardInput ?? (await readGivenFile(payload, io))
  return { headers, query: parseFields(parameters.toString()), body, now: io.now() }
}

function splitPair(text: string, separator: string, usage: string): [string, string] {
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
export function endpointIn(nameOrUrl: string, hooksPath: string): string {
  const path =
    /^https?:\/\//.test(nameOrUrl) && URL.canParse(nameOrUrl) ? new URL(nameOrUrl).pathname : nameOrUrl
  return (path.startsWith(`${hooksPath}/`) ? path.slice(hooksPath.length) : path).replace(/^\/+/, '')
}

/** Names the endpoints that exist instead of an unknown one. Returns lines. */
export function describeEndpoints(endpoint: string, snapshot: Snapshot): string[] {
  const paths = snapshot.mappings.map(({ path }) => path).filter((each) => each !== undefined)
  const endpoints = [...new Set([...paths, ...Object.keys(snapshot.endpoints)])].sort()
  const nearest = nearestName(endpoint, endpoints)
  return [
    ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
    `Endpoints: ${[...endpoints, 'wake', 'agent'].join(', ')}`,
  ]
}
