/** Formats and parses what is stored of a session between turns: the id of the conversation, and its cost so far. */

import { createHash } from 'node:crypto'
import type { Usage } from '@reveille/kit'
import { type Tokens, tokenKinds } from './output/fields.ts'

export interface State {
  readonly session?: string
  /** The counts so far of a program that counts the whole conversation. */
  readonly totals?: Tokens
}

/** Formats a state, as the id alone if there is nothing else, since people read it. */
export function formatState({ session, totals }: State): string | undefined {
  if (session === undefined) return undefined
  return totals === undefined ? session : JSON.stringify({ session, totals })
}

export function parseState(text: string | undefined): State {
  if (text === undefined) return {}
  if (!text.startsWith('{')) return { session: text }
  try {
    const { session, totals } = JSON.parse(text) as State
    return typeof session === 'string' ? { session, ...(isTotals(totals) && { totals }) } : {}
  } catch {
    return {}
  }
}

function isTotals(value: unknown): value is Tokens {
  return typeof value === 'object' && value !== null
}

/** Returns the tokens since `before`. A program that counts fewer than before has restarted its count. */
export function tokensSince(now: Tokens, before: Tokens = {}): Tokens {
  const hasRestarted = tokenKinds.some((kind) => (now[kind] ?? 0) < (before[kind] ?? 0))
  if (hasRestarted) return now
  const counted = tokenKinds.filter((kind) => now[kind] !== undefined)
  return Object.fromEntries(counted.map((kind) => [kind, (now[kind] ?? 0) - (before[kind] ?? 0)]))
}

export function usageOf({ input, output, cached, reasoning }: Tokens): Usage | undefined {
  const usage = {
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
  return Object.keys(usage).length > 0 ? usage : undefined
}

/** An arbitrary constant, which must never change, since every conversation would be lost. */
const namespace = Buffer.from('6f2d1c0e8b5a4d3f9a7e21c45d80b3f6', 'hex')

/** Returns the id that we choose for a session's conversation: a version 5 UUID (RFC 9562, section 5.5) of its key. */
export function sessionIdOf(sessionKey: string): string {
  const digest = createHash('sha1').update(namespace).update(sessionKey).digest()
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  const hex = digest.toString('hex')
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
