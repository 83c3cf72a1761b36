/** Opens the subject of all checks: one configuration, its folder, and the gateway that it describes. */

import path from 'node:path'
import type { Configuration, Settings, Snapshot } from '@reveille/engine'
import { loadGatewayBlock } from '../../reload/gateway-block.ts'
import type { Compiled } from '../authoring/compile.ts'
import type { Io } from '../io.ts'
import { connectionTo } from '../reading/admin-client.ts'
import { NotChecked } from './check.ts'
import { createGatewayView, type GatewayView } from './gateway-view.ts'
import { createRecordsView, type RecordsView } from './records-view.ts'

export interface Subject {
  readonly io: Io
  /** The absolute path of the configuration file. */
  readonly file: string
  readonly folder: string
  /** Whether a public server may be asked. */
  readonly isOnline: boolean
  /** The compiled configuration, or everything that is wrong with it. */
  readonly compiled: Compiled
  /** Of a configuration with errors, the settings of its block `gateway:`; absent where that has errors too. */
  readonly settingsIfKnown: Settings | undefined
  /** @throws NotChecked where they are not known */
  settings(): Settings
  /** @throws NotChecked for a configuration with errors */
  valid(): { readonly configuration: Configuration; readonly snapshot: Snapshot }
  /** @throws NotChecked */
  gateway(): GatewayView
  /** Reads what was received and what waits from the running gateway, else from its store. @throws NotChecked */
  records(): Promise<RecordsView>
  close(): void
}

export async function openSubject(
  file: string,
  compiled: Compiled,
  isOnline: boolean,
  io: Io,
): Promise<Subject> {
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
    file,
    folder: path.dirname(file),
    isOnline,
    compiled,
    settingsIfKnown: settings,
    settings: () => known(settings),
    valid() {
      if (compiled.ok) return compiled
      throw new NotChecked('CONFIGURATION_BROKEN', 'the configuration has errors')
    },
    gateway: () => known(gateway),
    records: async () => known(records).open(),
    close: () => records?.close(),
  }
}
