/** `reveille webhooks NAME setup`: has the plugin connect its source, and writes that into the configuration. */

import path from 'node:path'
import type { ConnectCall, Connection, SourceStorage } from '@reveille/kit'
import { type Connector, connectorOf } from '../../plugin/index.ts'
import {
  createSharedStorage,
  createSourceClock,
  createSourceStorage,
  sourcesFolder,
} from '../../sources/index.ts'
import { isDatabase } from '../../store/driver-package.ts'
import { openSourceValues } from '../../store/offline-source-values.ts'
import { CommandFailure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { createStopSignal } from '../signals.ts'
import { adviceFor } from './advice.ts'
import { readConfigured } from './configured.ts'
import { createPerson } from './person.ts'
import type { Connected, Given } from './task.ts'
import { perform, type Task, unexpected } from './task.ts'
import { writeConnection } from './write.ts'

type SetupOptions = CommandOptions & Given & { readonly browser?: boolean }

/** @returns 1 where it could not be finished; the same command continues from there */
export function connectSource({ name, setup }: Connected, options: SetupOptions, given: Io): Promise<number> {
  const again = (io: Io) =>
    `What was done is kept: ${pasted(`webhooks ${name} setup`, io)} goes on from there.`
  return perform(
    setup.title,
    options,
    given,
    async (task) => {
      const { file, shown, steps, io } = task
      const found = await readConfigured(file, name, io)
      const { settings } = found.configuration
      const connector = await connectorOf(name, settings)
      const configured = { ...found, source: usable(found.source, connector) }
      const { store, dataDir } = settings.gateway
      const folder = path.join(sourcesFolder(dataDir), name)
      await using shared = isDatabase(store)
        ? await openSourceValues({ location: store, configFile: file })
        : undefined
      const storage = shared ? createSharedStorage(shared)(name, folder) : createSourceStorage(folder)
      const connection = await connect(connector, configured.source, storage, options, task, again(io))
      const changed = await writeConnection(name, connection, configured, task)
      const { configuration } = await readConfigured(file, name, io)
      const { warnings, next } = await adviceFor(configuration, connection, io)
      for (const warning of warnings) steps.warn(warning)
      return {
        facts: { ...connection.facts, configuration: { file: shown, changed } },
        lines: [`${connection.subject ?? name} is set up.`, '', ...next],
      }
    },
    again,
  )
}

/** The configured values without invalid ones, which are asked for again. */
function usable(source: Given, { examine, key }: Connector): Given {
  const wrong = new Set(examine(source).map((problem) => problem.key.slice(key.length + 1).split('.')[0]))
  return Object.fromEntries(Object.entries(source).filter(([each]) => !wrong.has(each)))
}

async function connect(
  connector: Connector,
  config: Given,
  storage: SourceStorage,
  options: SetupOptions,
  { steps, prompts, io }: Task,
  again: string,
): Promise<Connection> {
  const { browser, config: _file, json: _json, ...wanted } = options
  const call = new AbortController()
  const cancel = () => call.abort(new CommandFailure(1, `Called off. ${again}`))
  const stop = createStopSignal({ signals: io.signals })
  void stop.first.then(cancel)
  const connecting: ConnectCall = {
    config,
    wanted,
    storage,
    fetch: io.fetch,
    clock: createSourceClock(io.now),
    signal: call.signal,
    person: createPerson({ io, prompts, browser: browser !== false, cancel }),
    report: steps.report,
  }
  try {
    return await connector.connect(connecting)
  } catch (error) {
    // The person cancelled, so the error of the step under way says nothing new.
    throw call.signal.aborted ? call.signal.reason : unexpected(error)
  } finally {
    stop.close()
  }
}
