/** Finds the filters that miss by one value, among the explanations of ignored requests. */

import type { CandidateTrace, ClauseTrace, HookRequest } from '@reveille/engine'
import { BoundedMap } from '@reveille/kit'
import { cut } from '../cut.ts'
import type { Id, Reader } from '../store/port.ts'
import type { Ledger } from './ledger.ts'

/** An ignored request with its explanation. */
export interface Explained {
  readonly id: Id
  readonly request: Pick<HookRequest, 'endpoint'>
  readonly candidates: readonly CandidateTrace[]
}

/** A filter that has let requests pass is taken for right, and so is one that has missed less often than this. */
const minMisses = 3
const maxRemembered = 2000
const longestValue = 100

type Miss = CandidateTrace & { readonly clause: ClauseTrace }

export function createNearMisses(ledger: Ledger, read: Pick<Reader, 'requests'>) {
  /** The mappings that requests have reached since this process started, or since they were changed. */
  const matched = new Set<string>()
  /** The mappings that were changed: what reached them before says nothing. */
  const changed = new Set<string>()
  /** Whether stored requests have reached a mapping or an endpoint, asked once for each. */
  const stored = new BoundedMap<string, Promise<boolean>>(maxRemembered)
  const misses = new BoundedMap<string, number>(maxRemembered)

  function hasAny(filter: { readonly mapping: string } | { readonly endpoint: string }): Promise<boolean> {
    const key = JSON.stringify(filter)
    const known = stored.get(key)
    if (known !== undefined) return known
    const asked = read.requests({ ...filter, outcome: 'accepted', limit: 1 }).then(
      ({ items }) => items.length > 0,
      // A store that cannot be read is no reason for an issue.
      () => true,
    )
    stored.set(key, asked)
    return asked
  }

  /**
   * Most requests that miss by one value are meant to be ignored: `closed` where the filter wants `opened`. A filter is only
   * suspected if the value differs in type, case or space alone; or if it has never let a request pass, and its endpoint has
   * never accepted one or it has missed several times.
   */
  async function isSuspect({ mapping, clause }: Miss, endpoint: string): Promise<boolean> {
    if (clause.isNear) return true
    if (matched.has(mapping)) return false
    if (!changed.has(mapping) && (await hasAny({ mapping }))) return false
    const key = `${mapping} ${clause.path}`
    const count = (misses.get(key) ?? 0) + 1
    misses.set(key, count)
    return count >= minMisses || !(await hasAny({ endpoint }))
  }

  return {
    async explained({ id, request: { endpoint }, candidates }: Explained): Promise<void> {
      const missed = candidates.filter(isMiss)
      const nearest = missed.find(({ clause }) => clause.isNear) ?? deepest(missed)
      if (nearest === undefined || !(await isSuspect(nearest, endpoint))) return
      const { mapping, place, clause } = nearest
      ledger.note({
        code: 'FILTER_NEAR_MISS',
        subject: mapping,
        describe: () => ({
          cause: `A request to /${cut(endpoint, longestValue)} was ignored that misses only ${clause.path} of the mapping "${mapping}" (${place}): it wants ${cut(clause.expected, longestValue)}, and ${cameWith(clause)}.`,
          next: {
            label: 'Compare the request with the mapping, and mend the value if it is meant to match',
            command: `reveille explain ${id}`,
          },
        }),
      })
    },

    /** A request has reached the mapping. */
    matched(mapping: string): void {
      if (!matched.has(mapping)) matched.add(mapping)
    },

    /** These mappings were changed or removed. */
    forget(mappings: Iterable<string>): void {
      for (const mapping of mappings) {
        matched.delete(mapping)
        changed.add(mapping)
      }
      misses.clear()
    },
  }
}

function isMiss(candidate: CandidateTrace): candidate is Miss {
  return candidate.verdict === 'failed' && candidate.clause?.isOnly === true
}

/** Clauses are tested in this order, and the later one fails, the more of the mapping holds. */
const clauseOrder = ['match.source', 'match.headers', 'match.body', 'match.when']

function deepest(misses: readonly Miss[]): Miss | undefined {
  const depth = ({ clause }: Miss) => clauseOrder.findIndex((name) => clause.path.startsWith(name))
  return misses.reduce<Miss | undefined>(
    (best, miss) => (best === undefined || depth(miss) > depth(best) ? miss : best),
    undefined,
  )
}

function cameWith({ actual, error }: ClauseTrace): string {
  if (error !== undefined) return `it could not be decided: ${cut(error, longestValue)}`
  return actual === undefined ? 'no such value came' : `${cut(actual, longestValue)} came`
}
