/** Opens the subject of all checks: one configuration, its folder, and the gateway that it describes. */

import path from 'node:path'
import type { Configuration, Snapshot } from '@reveille/engine'
import { loadGatewayBlock } from '../../reload/gateway-block.ts'
import type { Compiled } from '../authoring/compile.ts'
import { connectionTo } from '../client.ts'
import type { Io } from '../io.ts'
import { createGatewayView } from './gateway-view.ts'
import { NotChecked } from './not-checked.ts'
import { createRecordsView } from './records-view.ts'

export type Subject = Awaited<ReturnType<typeof openSubject>>

export async function openSubject(file: string, compiled: Compiled, isOnline: boolean, io: Io) {
  const settings = compiled.ok
    ? compiled.configuration.settings
    : (await loadGatewayBlock({ file, env: io.env }))?.settings
  const gateway = settings && createGatewayView(await connectionTo(settings, io), io)
  const records = gateway && createRecordsView(settings, gateway)

  /** @throws NotChecked */
  function known<Value>(value: Value | undefined): Value {
    if (value !== undefined) return value
    throw new NotChecked(
      'CONFIGURATION_BROKEN',
      'the configuration has errors, and so has its block `gateway:`',
    )
  }

  return {
    io,
    /** The absolute path of the configuration file. */
    file,
    folder: path.dirname(file),
    /** Whether a public server may be asked. */
    isOnline,
    /** The compiled configuration, or everything that is wrong with it. */
    compiled,
    /** Of a configuration with errors, the settings of its block `gateway:`; undefined where that has errors too. */
    settingsIfKnown: settings,
    /** @throws NotChecked where they are not known */
    settings: () => known(settings),
    /** @throws NotChecked for a configuration with errors */
    valid(): { readonly configuration: Configuration; readonly snapshot: Snapshot } {
      if (compiled.ok) return compiled
      throw new NotChecked('CONFIGURATION_BROKEN', 'the configuration has errors')
    },
    /** @throws NotChecked */
    gateway: () => known(gateway),
    /** Reads what was received and what waits from the running gateway, else from its store. @throws NotChecked */
    records: async () => known(records).open(),
    close: () => records?.close(),
  }
}
