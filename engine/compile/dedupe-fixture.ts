/** Provides mappings with a key, and reads the keys of decisions, for tests of deduplication. */

import assert from 'node:assert/strict'
import type { Decision, Dedupe } from '../resolve/model/decision.ts'
import type { AnsweredAction } from '../transform/port.ts'
import type { Fixture, Mapping } from './fixture.ts'

export const dayMs = 86_400_000

export function deduping(key: string, more: Partial<Mapping> = {}): Mapping {
  return { message: 'x', ...more, dedupe: { enabled: true, key } }
}

export function dedupesOf(decision: Decision): (Dedupe | undefined)[] {
  assert.ok(decision.outcome === 'accepted', JSON.stringify(decision))
  return decision.actions.map(({ dedupe }) => dedupe)
}

export function keysOf(decision: Decision): (string | undefined)[] {
  return dedupesOf(decision).map((dedupe) => dedupe?.key)
}

/** Answers as a worker does, with a list of actions. */
export function answering(...actions: AnsweredAction[]): NonNullable<Fixture['transforms']> {
  return { 'a.ts': async () => ({ kind: 'list', actions }) }
}
