/** The cluster of a store that one process holds: this node alone, which leads everything at once. */

import { randomUUID } from 'node:crypto'
import { type Cluster, StoreError, type StoreOptions } from '../port.ts'

export function createSingleNode({
  node: { name = '', version = '', role = 'all' } = {},
  now,
}: Pick<StoreOptions, 'now'> & { readonly node?: Partial<StoreOptions['node']> | undefined }): Cluster {
  const id = randomUUID()
  const startedAt = now()
  const led: string[] = []
  let live: Parameters<Cluster['report']>[0] | undefined

  return {
    node: id,
    isShared: false,
    nodes: async () => [
      {
        id,
        name,
        version,
        role,
        ...live,
        startedAt,
        renewedAt: now(),
        leads: [...new Set(led)],
        isSelf: true,
      },
    ],
    report(next) {
      live = next
    },
    whileLeading(what, run) {
      const end = new AbortController()
      led.push(what)
      run({ signal: end.signal, confirm: async () => end.signal.throwIfAborted() })
      return () => {
        led.splice(led.indexOf(what), 1)
        end.abort(new StoreError('LEASE_LOST', `this node gave up ${what}`))
      }
    },
    database: async () => undefined,
  }
}
