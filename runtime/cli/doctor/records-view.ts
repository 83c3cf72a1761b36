/** Reads records for the checks from the running gateway, else from its store, which is not changed. */

import type { Settings } from '@reveille/engine'
import type { OpenDeliveries, RequestRecord } from '../../store/port.ts'
import { StoreError } from '../../store/port.ts'
import { readStoreSummary, type StoreSummary } from '../../store/sqlite/index.ts'
import type { Client } from '../client.ts'
import type { GatewayView } from './gateway-view.ts'
import { NotChecked } from './not-checked.ts'

export type RecordsView = ReturnType<typeof fromGateway>

/** The most requests that are looked at. */
const maxRequests = 2_000
const page = 500

export function createRecordsView(settings: Settings, gateway: GatewayView) {
  let summary: StoreSummary | undefined
  let opened: Promise<RecordsView> | undefined

  async function open(): Promise<RecordsView> {
    try {
      return fromGateway(await gateway.admin(), gateway)
    } catch (error) {
      if (!(error instanceof NotChecked)) throw error
    }
    const { store, dataDir } = settings.gateway
    if (store !== 'sqlite')
      throw new NotChecked(
        'STORE_UNREADABLE',
        'no gateway answers, which alone reads what is in the database',
      )
    summary = await openSummary(dataDir)
    return fromStore(summary, settings.gateway.limits.backlog)
  }

  return {
    /** @throws NotChecked */
    open(): Promise<RecordsView> {
      opened ??= open()
      return opened
    },
    close: () => summary?.close(),
  }
}

async function openSummary(location: string): Promise<StoreSummary> {
  try {
    return await readStoreSummary(location)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new NotChecked('STORE_UNREADABLE', `no gateway answers, and ${error.message}`)
  }
}

function fromGateway(client: Client, gateway: GatewayView) {
  return {
    /** Names for people where the records come from. */
    source: 'the gateway',
    /** Returns the newest requests first. `more`: there are older ones. */
    async requests(): Promise<{ readonly items: readonly RequestRecord[]; readonly more: boolean }> {
      const items: RequestRecord[] = []
      let cursor: string | undefined
      do {
        const query = { limit: page, ...(cursor !== undefined && { cursor }) }
        const got = await client.ask('listRequests', { query })
        items.push(...got.items)
        cursor = got.next
      } while (cursor !== undefined && items.length < maxRequests)
      return { items, more: cursor !== undefined }
    },
    openDeliveries: async (): Promise<readonly OpenDeliveries[]> => (await gateway.status()).channels,
    /** `more`: the count is a lower bound. */
    async parkedRuns() {
      const query = { state: 'parked', limit: page } as const
      const { items, next } = await client.ask('listRuns', { query })
      return { count: items.length, more: next !== undefined }
    },
    async backlog() {
      const { backlog } = await gateway.status()
      if (backlog !== undefined) return backlog
      throw new NotChecked('GATEWAY_OLDER', 'the gateway is of a version that does not report it')
    },
  }
}

function fromStore(summary: StoreSummary, limit: number): RecordsView {
  return {
    source: 'its store',
    requests: async () => summary.requests(maxRequests),
    openDeliveries: async () => summary.openDeliveries(),
    parkedRuns: async () => ({ count: await summary.parkedRuns(), more: false }),
    backlog: async () => ({ waiting: await summary.backlog(), limit }),
  }
}
