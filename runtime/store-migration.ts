/** Reports a migration of the store: lines in the log, and 503 at the gateway's address until the gateway listens itself. */

import { answerNotReady } from './http/index.ts'
import type { Log } from './observe/log.ts'
import type { Migration } from './store/port.ts'

export interface MigrationOptions {
  readonly log: Log
  /** The address that answers meanwhile. Without one nothing does. */
  readonly address?: { readonly host: string; readonly port: number }
}

export function createMigrationReporter({ log, address }: MigrationOptions) {
  let server: Promise<{ readonly port: number; close(): void } | undefined> | undefined
  let state = ''
  let lastPercent = 0
  let began: number | undefined

  return {
    note({ from, to, backup, done, total }: Migration) {
      if (began === undefined) {
        began = performance.now()
        log.warn({ event: 'store-migrating', from, to, backup }, 'the store is brought to a new schema')
        // An address that is taken is reported when the gateway listens.
        if (address !== undefined) server = answerNotReady(address, () => state).catch(() => undefined)
      }
      const percent = total === 0 ? 0 : Math.floor((100 * done) / total)
      state =
        total === 0
          ? 'its store is backed up before a migration'
          : `its store is migrated, ${percent} % is done`
      if (percent < lastPercent + 10) return
      lastPercent = percent
      log.info({ event: 'store-migration', percent, rows: done })
    },
    /** The port that answers meanwhile, once it does. */
    port: async () => (await server)?.port,
    /** Ends the answers; `isDone` says whether the store opened. */
    async end(isDone: boolean) {
      if (began === undefined) return
      ;(await server)?.close()
      if (isDone) log.info({ event: 'store-migrated', tookMs: Math.round(performance.now() - began) })
    },
  }
}
