/** Owns what is kept of a session between turns: the conversation's id, and what it had cost so far. */

import type { Usage } from '@reveille/kit'
import { type Tokens, tokenKinds } from './output/reading.ts'

export interface State {
  readonly session?: string
  /** What a program that counts the whole conversation had counted. */
  readonly totals?: Tokens
}

/** The id alone where there is nothing else, since people read it. */
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

/** A program that counts less than before has begun to count anew. */
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
