/** Writes a `tests:` entry of a mapping file from a request: it expects what happened, or what a dry run says. */

import { type ReceivedRequest, redactRequest, type Snapshot } from '@reveille/engine'
import { stringify } from 'yaml'
import { trySurface } from '../http/index.ts'
import { redact } from '../redact.ts'
import type { RequestOutcome } from '../store/port.ts'

/** Headers of the way from the sender to the gateway, which no mapping has a reason to read. */
const ofTransport =
  /^(?:host|connection|content-(?:length|encoding|type)|transfer-encoding|accept(?:-.+)?|user-agent|te|via|forwarded|x-forwarded-.+|x-real-ip|expect|date|traceparent|tracestate|cdn-loop|cf-.+|x-amzn-.+|x-request-id|sentry-trace|baggage|prefer|keep-alive|upgrade-insecure-requests|sec-.+)$/

/** Outcome of a request, or of its dry run. */
export interface Ending {
  /** Absent: it is not stored. */
  readonly id?: string
  /** Milliseconds since the Unix epoch. Absent: its time does not matter. */
  readonly receivedAt?: number
  readonly endpoint: string
  readonly outcome: RequestOutcome
  readonly status: number
  readonly mapping?: string
  readonly code?: string
  readonly reason?: string
  readonly actions: readonly { readonly kind: string; readonly sessionKey?: string }[]
}

/**
 * Returns the entry as YAML, below `tests:`, or the reason why there is none. Secrets are redacted; where a mapping reads one, the
 * test needs another value.
 */
export async function testEntryOf(
  ending: Ending,
  received: ReceivedRequest,
  snapshot: Snapshot,
  mask: (text: string) => string,
): Promise<{ readonly yaml: string } | { readonly problem: string }> {
  const admitted = await trySurface.receive(received, snapshot)
  if ('code' in admitted)
    return { problem: `It would be refused before any mapping is asked: ${admitted.message}` }
  if (admitted.isUndecoded === true)
    return { problem: 'Its body is too long for an entry: keep it in a file, and name that as `bodyFile`.' }
  const { payload, headers, query } = redact(redactRequest(admitted), mask)
  const kept = Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      ofTransport.test(name) || value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  )
  const queryValues = Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat()[0]]],
    ),
  )
  const entry = {
    name: nameOf(ending),
    request: {
      endpoint: ending.endpoint,
      ...(Object.keys(kept).length > 0 && { headers: kept }),
      ...(Object.keys(queryValues).length > 0 && { query: queryValues }),
      body: payload,
    },
    ...(ending.receivedAt !== undefined && { now: new Date(ending.receivedAt).toISOString() }),
    expect: expectationOf(ending),
  }
  return { yaml: stringify({ tests: [entry] }, { lineWidth: 0, aliasDuplicateObjects: false }) }
}

function nameOf({ id, endpoint, outcome, mapping }: Ending): string {
  const by = mapping === undefined ? '' : ` by ${mapping}`
  return `a request to ${endpoint} is ${outcome === 'duplicate' ? 'accepted' : outcome}${by}${id === undefined ? '' : ` (${id.slice(-6)})`}`
}

/** A duplicate is one only for the store, which a test does not have. */
function expectationOf({ outcome, mapping, status, code, reason, actions }: Ending): object {
  const by = mapping === undefined ? {} : { mapping }
  switch (outcome) {
    case 'ignored':
      return { outcome }
    case 'skipped':
      return { outcome, ...by, ...(reason !== undefined && { reason }) }
    case 'failed':
    case 'refused':
      return { status, ...(code !== undefined && { code }), ...by }
    default: {
      const kinds = actions.map(({ kind }) => ({ action: kind }))
      const [only] = kinds
      if (kinds.length > 1) return { actions: kinds }
      const { sessionKey } = actions[0] ?? {}
      const session = sessionKey === undefined ? {} : { sessionKey }
      return only === undefined ? { outcome: 'accepted', ...by } : { ...by, ...only, ...session }
    }
  }
}
