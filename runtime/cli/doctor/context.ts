/** Opens the subject of all checks: one configuration, its folder, the gateway that it describes, and its records. */

import path from 'node:path'
import type { Configuration, Settings, Snapshot } from '@reveille/engine'
import type { ItemOf } from '../../api/routes/client.ts'
import { loadGatewayBlock } from '../../reload/gateway-block.ts'
import { type OpenDeliveries, type RequestRecord, StoreError } from '../../store/port.ts'
import { readStoreSummary, type StoreSummary } from '../../store/sqlite/index.ts'
import type { Compiled } from '../authoring/compile.ts'
import { type Client, connectionTo } from '../client.ts'
import type { Io } from '../io.ts'
import { createGatewayView, type GatewayView, NotChecked, once } from './gateway-view.ts'

export type DoctorContext = Awaited<ReturnType<typeof openDoctorContext>>

export async function openDoctorContext(file: string, compiled: Compiled, isOnline: boolean, io: Io) {
  const settings = compiled.ok
    ? compiled.configuration.settings
    : (await loadGatewayBlock({ file, env: io.env }))?.settings
  const gateway = settings && createGatewayView(await connectionTo(settings, io), io)
  let summary: StoreSummary | undefined
  const records = once(async (): Promise<Records> => {
    const view = require(gateway)
    try {
      return fromGateway(await view.admin(), view)
    } catch (error) {
      if (!(error instanceof NotChecked)) throw error
    }
    summary = await openSummary(require(settings))
    return fromStore(summary, require(settings).gateway.limits.backlog)
  })

  /** @throws NotChecked */
  function require<Value>(value: Value | undefined): Value {
    if (value !== undefined) return value
    const message = 'the configuration has errors, and so has its block `gateway:`'
    throw new NotChecked('CONFIGURATION_BROKEN', message)
  }

  return {
    io,
    /** The absolute path of the configuration file. */
    file,
    folder: path.dirname(file),
    /** True if a public server may be asked. */
    isOnline,
    /** The compiled configuration, or everything that is wrong with it. */
    compiled,
    /** Of a configuration with errors, the settings of its block `gateway:`; undefined where that has errors too. */
    settingsIfKnown: settings,
    /** @throws NotChecked where they are not known */
    settings: () => require(settings),
    /** @throws NotChecked for a configuration with errors */
    valid(): { readonly configuration: Configuration; readonly snapshot: Snapshot } {
      if (compiled.ok) return compiled
      throw new NotChecked('CONFIGURATION_BROKEN', 'the configuration has errors')
    },
    /** @throws NotChecked */
    gateway: () => require(gateway),
    /** Reads what was received and what waits from the running gateway, else from its store, which is not changed. @throws NotChecked */
    records,
    close: () => summary?.close(),
  }
}

interface Records {
  /** Names for people where the records come from. */
  readonly source: string
  /** The newest requests first. `more`: there are older ones. */
  requests(): Promise<{
    readonly items: readonly (RequestRecord | ItemOf<'listRequests'>)[]
    readonly more: boolean
  }>
  openDeliveries(): Promise<readonly Pick<OpenDeliveries, 'parked'>[]>
  /** `more`: the count is a lower bound. */
  parkedRuns(): Promise<{ readonly count: number; readonly more: boolean }>
  backlog(): Promise<{ readonly waiting: number; readonly limit: number }>
}

/** Maximum number of requests checked. */
const maxRequests = 2_000
const limit = 500

function fromGateway(client: Client, gateway: GatewayView): Records {
  return {
    source: 'the gateway',
    async requests() {
      const items: ItemOf<'listRequests'>[] = []
      let cursor: string | undefined
      do {
        const page = await client.ask('listRequests', { query: { limit, ...(cursor && { cursor }) } })
        items.push(...page.items)
        cursor = page.next
      } while (cursor !== undefined && items.length < maxRequests)
      return { items, more: cursor !== undefined }
    },
    openDeliveries: async () => (await gateway.status()).channels,
    async parkedRuns() {
      const { items, next } = await client.ask('listRuns', { query: { state: 'parked', limit } })
      return { count: items.length, more: next !== undefined }
    },
    backlog: async () => (await gateway.status()).backlog,
  }
}

async function openSummary({ gateway: { store, dataDir } }: Settings): Promise<StoreSummary> {
  if (store !== 'sqlite')
    throw new NotChecked('STORE_UNREADABLE', 'no gateway answers, which alone reads what is in the database')
  try {
    return await readStoreSummary(dataDir)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new NotChecked('STORE_UNREADABLE', `no gateway answers, and ${error.message}`)
  }
}

function fromStore({ read, backlog: waiting }: StoreSummary, limit: number): Records {
  return {
    source: 'its store',
    async requests() {
      const { items, next } = await read.requests({ limit: maxRequests })
      return { items, more: next !== undefined }
    },
    openDeliveries: read.openDeliveries,
    parkedRuns: async () => ({ count: (await read.openRuns()).parked, more: false }),
    backlog: async () => ({ waiting: await waiting(), limit }),
  }
}
