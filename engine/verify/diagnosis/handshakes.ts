/** Owns whether a request is a handshake, asked as the gateway asks. */

import type { Handshake, Handshakes } from '../handshakes/handshake.ts'
import type { SignedRequest } from '../verifier.ts'

/** Undefined: it is none. */
export function findHandshake(
  handshakes: Handshakes | undefined,
  { method, target, headers, rawBody }: SignedRequest,
  isTrusted: boolean,
): Handshake | undefined {
  return handshakes?.answer({
    method,
    headers,
    query: queryOf(target),
    payload: payloadOf(rawBody),
    isTrusted,
  })
}

/** A name that stands more than once gives a list, as everywhere in the gateway. */
function queryOf(target: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null)
  const mark = target.indexOf('?')
  for (const [name, value] of mark === -1 ? [] : new URLSearchParams(target.slice(mark + 1))) {
    const earlier = query[name]
    query[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return query
}

/** No handshake is longer; of a stranger the gateway reads no more. */
const longest = 16_384

function payloadOf(body: Uint8Array): unknown {
  if (body.length === 0 || body.length > longest) return undefined
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch {
    return undefined
  }
}
