/** Sources that each break one promise, under the name of the test that has to notice. suites.test.ts runs them. */

import { describe, test } from 'node:test'
import { openFakeServer } from '../../fake-server/index.ts'
import { shortenDeadline } from '../deadline.ts'
import { sourceConformance } from '../index.ts'
import { type SourceConformance, sourceTest } from '../source.ts'
import { spoilers } from './feed/spoilers.ts'
import { secret } from './good.ts'

const feed = new URL('./feed/index.ts', import.meta.url)
type Setup = Omit<SourceConformance, 'name'>

/** The modifications of the setup. */
const ofSetup = ['has no effect at setup', 'leaves nothing open after close']

sourceConformance({ name: 'a good source', ...setupOf({}) })
for (const breaks of [...Object.keys(spoilers), ...ofSetup]) ask(breaks, setupOf({ breaks }))
ask('does nothing on import', setupOf({}, new URL('./feed-busy/index.ts', import.meta.url)))

/** The test that has to notice. */
function ask(breaks: string, setup: Setup): void {
  describe(breaks, () => {
    test(breaks, async (t) => {
      const recover = shortenDeadline(300)
      try {
        await sourceTest(breaks, setup, t)
      } finally {
        recover()
      }
    })
  })
}

function setupOf(config: { readonly breaks?: string }, plugin = feed): Setup {
  return {
    plugin,
    async create() {
      const events: { number: number; text: string }[] = []
      const vendor = await openFakeServer({
        answer({ query, headers }) {
          if (headers['authorization'] !== `Bearer ${secret}`) return { status: 401 }
          return { body: events.filter(({ number }) => number > Number(query.get('after'))) }
        },
      })
      return {
        config: { token: secret, baseUrl: vendor.url, ...config },
        secrets: [secret],
        happen() {
          const number = events.length + 1
          events.push({ number, text: `event ${number}` })
          return String(number)
        },
        idsIn: (body) =>
          (body as { readonly events: typeof events }).events.map(({ number }) => String(number)),
        stall: () => vendor.always({ kind: 'hang-before' }),
        fail: () => vendor.always({ kind: 'answer', answer: { status: 503 } }),
        close: () => vendor.close(),
      }
    },
  }
}
