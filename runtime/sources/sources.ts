/** Runs the live sources, each once. */

import { join } from 'node:path'
import type { SourceStorage } from '@reveille/kit'
import type { Logger } from 'pino'
import type { CallOptions, GatewayAccess, RunnableSource } from './call.ts'
import { createSourceStorage } from './source-storage.ts'
import type { SourceState } from './state.ts'
import { type Supervisor, superviseSource } from './supervisor.ts'

export interface SourcesOptions extends GatewayAccess, Pick<CallOptions, 'confirm'> {
  /** Returns the configured sources. Another object with the same name is a changed source. */
  readonly live: () => readonly RunnableSource[]
  /** The folder with one folder for each source, by its name. */
  readonly folder: string
  readonly log: Logger
  /** Where a source keeps its values. Default: in its folder. */
  readonly storageOf?: (source: string, folder: string) => SourceStorage
  /** Called with each change of a state, and each report. */
  readonly onState?: (state: SourceState) => void
  /** Default: `Math.random`. */
  readonly random?: () => number
}

export type Sources = ReturnType<typeof createSources>

export function createSources(options: SourcesOptions) {
  const { live, folder, random = Math.random, onState = () => {} } = options
  const { storageOf = (_source: string, own: string) => createSourceStorage(own) } = options
  /** The last supervisor of each source, by its name. */
  const supervisors = new Map<string, Supervisor>()
  /** One storage for each name, whatever its configuration, so that writes come one after the other. */
  const storages = new Map<string, SourceStorage>()
  let isClosed = false

  function begin(source: RunnableSource): void {
    const { name } = source
    const storage = storages.get(name) ?? storageOf(name, join(folder, name))
    storages.set(name, storage)
    const supervisor = superviseSource(source, supervisors.get(name)?.ended, {
      ...options,
      folder: join(folder, name),
      storage,
      random,
      onState,
    })
    supervisors.set(name, supervisor)
    supervisor.ended.then(() => {
      if (supervisors.get(name) === supervisor) supervisors.delete(name)
    })
  }

  return {
    /** Ends sources that are no longer live and begins new ones. The host calls it at the start and after each commit. */
    apply() {
      if (isClosed) return
      const configured = new Map(live().map((source) => [source.name, source]))
      for (const [name, supervisor] of supervisors)
        if (configured.get(name) !== supervisor.source) supervisor.stop()
      for (const [name, source] of configured) {
        const supervisor = supervisors.get(name)
        if (supervisor?.source !== source || supervisor.isStopped()) begin(source)
        else supervisor.reloaded()
      }
    },
    /** Returns the state of each source that runs, is about to run, or ends. */
    states: () => [...supervisors.values()].map((supervisor) => supervisor.state()),
    /** Ends all sources. Resolves when they have ended or were abandoned. */
    async close(): Promise<void> {
      isClosed = true
      const all = [...supervisors.values()]
      for (const supervisor of all) supervisor.stop()
      await Promise.all(all.map(({ ended }) => ended))
    },
  }
}
