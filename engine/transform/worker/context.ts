/** Makes the context of a transform from the bytes and texts that came from the main thread. */

import { Buffer } from 'node:buffer'
import { parseTexts } from '../../payload/exact-numbers.ts'
import type { TransformContext } from '../define.ts'
import { addUrl } from './openclaw.ts'
import type { CallData, CallOrder } from './protocol.ts'

export function createContext({ data, unwrapped, body }: CallOrder): TransformContext {
  const { form, now, headers, query, path, params, vars, item, index, base, dryRun, ...rest } = JSON.parse(
    data,
  ) as CallData
  const context: TransformContext = {
    payload: form ?? parsePayload(unwrapped ?? Buffer.from(body.buffer).toString('utf8')),
    headers: joinRepeated(headers),
    query,
    path,
    params,
    vars,
    with: freezeDeep(rest.with ?? {}),
    item,
    index,
    now: new Date(now),
    dryRun: dryRun !== undefined,
    rawBody: body,
    base: base as unknown as TransformContext['base'],
  }
  addUrl(context, path, query)
  return context
}

/**
 * Returns whether the module edited `base`, which has no effect. The others may be edited, as by a sort of a list on the way to
 * an answer: freezing them would cost every call, and break modules that were written for OpenClaw.
 */
export function isBaseEdited({ base }: TransformContext, { data }: CallOrder): boolean {
  try {
    return JSON.stringify(base) !== JSON.stringify((JSON.parse(data) as CallData).base)
  } catch {
    // Only what a module put there cannot be written as JSON.
    return true
  }
}

/** Freezes plain JSON. */
function freezeDeep(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}

function joinRepeated(headers: CallData['headers']): TransformContext['headers'] {
  const joined = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ])
  return Object.fromEntries(joined)
}

/** Parses a body. An empty one is an empty object; an integer beyond 2^53 is its source text. */
function parsePayload(body: string): unknown {
  const text = body.charCodeAt(0) === 0xfeff ? body.slice(1) : body
  return /\S/.test(text) ? (parseTexts(text) ?? JSON.parse(text)) : {}
}
