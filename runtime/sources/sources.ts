/** Owns which sources run: those that are live, each once. */

import { join } from 'node:path'
import type { SourceStorage } from '@reveille/kit'
import type { Logger } from 'pino'
import type { PushHandler } from '../http/index.ts'
import type { LiveSource } from '../plugin/index.ts'
import type { Outlets } from './call.ts'
import { type Keeping, keep } from './keeping.ts'
import { createPushHandlers } from './push-handlers.ts'
import { createSourceStorage } from './source-storage.ts'
import type { SourceState } from './state.ts'

export interface SourcesOptions extends Outlets {
  /** Those that are configured now. Another object of the same name is another source. */
  readonly live: () => readonly LiveSource[]
  /** Each has a folder in it, by its name. */
  readonly folder: string
  readonly log: Logger
  /** Whether requests can be received here. Default: true. */
  readonly receives?: boolean
  /** Told of each change of a state, and of each report. */
  readonly onState?: (state: SourceState) => void
  /** Default: `Math.random`. */
  readonly random?: () => number
}

export interface Sources {
  /** Ends what is not live any more and begins what is new. For the start, and after each commit. */
  apply(): void
  /** Of each that runs, is about to, or ends. */
  states(): readonly SourceState[]
  /** Who takes what is posted to that endpoint, at this moment. */
  pushHandlerOf(endpoint: string): PushHandler | undefined
  /** Ends all. Resolves when they have ended, or were abandoned; every call answers the same close. */
  close(): Promise<void>
}

export function createSources(options: SourcesOptions): Sources {
  const { live, folder, random = Math.random, receives = true, onState = () => {} } = options
  const pushHandlers = createPushHandlers()
  /** The last one of each name. */
  const keepings = new Map<string, Keeping>()
  /** One for each name, whatever its configuration: what is written at one time comes one after the other. */
  const storages = new Map<string, SourceStorage>()
  let isClosed = false

  function begin(source: LiveSource): void {
    const { name } = source
    const storage = storages.get(name) ?? createSourceStorage(join(folder, name))
    storages.set(name, storage)
    const keeping = keep(source, keepings.get(name)?.ended, {
      ...options,
      folder: join(folder, name),
      storage,
      random,
      onState,
      pushHandlers: receives ? pushHandlers : undefined,
    })
    keepings.set(name, keeping)
    keeping.ended.then(() => {
      if (keepings.get(name) === keeping) keepings.delete(name)
    })
  }

  return {
    apply() {
      if (isClosed) return
      const wanted = new Map(live().map((source) => [source.name, source]))
      for (const [name, keeping] of keepings) if (wanted.get(name) !== keeping.source) keeping.stop()
      for (const [name, source] of wanted) {
        const keeping = keepings.get(name)
        if (keeping?.source !== source || keeping.isStopped()) begin(source)
        else keeping.reloaded()
      }
    },
    states: () => [...keepings.values()].map((keeping) => keeping.state()),
    pushHandlerOf: (endpoint) => pushHandlers.of(endpoint),
    async close() {
      isClosed = true
      const all = [...keepings.values()]
      for (const keeping of all) keeping.stop()
      await Promise.all(all.map(({ ended }) => ended))
    },
  }
}
