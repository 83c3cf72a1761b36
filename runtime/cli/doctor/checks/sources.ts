/** Checks that what fetches events does so: no source waits for somebody, and none fails. */

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
    // A gateway of an earlier version tells of none.
    const { sources = [] } = await subject.gateway().status()
    if (sources.length === 0) return ok('none is configured')
    const found = sources.flatMap(({ source, state, detail }): Result[] => {
      if (state === 'working' || state === 'starting') return []
      return [warning(codes[state], `${source}: ${detail.replace(/\.$/, '')}`)]
    })
    const names = sources.map(({ source }) => source)
    return found.length > 0 ? found : ok(`${listed(names)} ${names.length === 1 ? 'works' : 'work'}`)
  },
}
