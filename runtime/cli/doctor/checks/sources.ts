/** Checks that every source fetches events, and that the gateway accepts them. */

import type { SourceState } from '../../../sources/index.ts'
import type { Io } from '../../io.ts'
import { pasted } from '../../pasted.ts'
import { type Check, ok, type Result, warning } from '../check.ts'
import { listed } from '../listed.ts'

const codes = {
  failing: 'SOURCE_FAILING',
  waiting: 'SOURCE_WAITING',
  'held-elsewhere': 'SOURCE_HELD_ELSEWHERE',
  stopped: 'SOURCE_STOPPED',
} as const

export const sources: Check = {
  name: 'sources',
  group: 'work',
  title: 'sources',
  async run(subject) {
    // A gateway of an earlier version reports no sources.
    const { sources = [] } = await subject.gateway().status()
    if (sources.length === 0) return ok('none is configured')
    const results = sources.flatMap((each) => judgeSource(each, subject.io))
    const names = sources.map(({ source }) => source)
    return results.length > 0 ? results : ok(`${listed(names)} ${names.length === 1 ? 'works' : 'work'}`)
  },
}

/** Returns nothing where all is well. The kit counts events that are tried again as `refused`. */
export function judgeSource(
  { source, state, detail, counts }: Pick<SourceState, 'source' | 'state' | 'detail' | 'counts'>,
  io: Pick<Io, 'env' | 'config'>,
): Result[] {
  if (state !== 'working' && state !== 'starting') {
    return [warning(codes[state], `${source}: ${detail.replace(/\.$/, '')}`)]
  }
  const refused = counts?.['refused'] ?? 0
  if (refused === 0) return []
  const text = `${source}: the gateway refused ${refused.toLocaleString('en')} of what it brought, which is tried again`
  return [warning('SOURCE_REFUSED', text, `${pasted('requests --outcome refused', io)} says why`)]
}
