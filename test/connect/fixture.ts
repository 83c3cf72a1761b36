/** A gateway in this process that a provider reaches at a public address while it runs, and whose clock the test moves. */

import type { TestContext } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { SourceState } from '../../runtime/sources/index.ts'
import { createManualSourceClock } from '../../runtime/sources/test-bed.ts'
import type { Page, RequestRecord } from '../../runtime/store/port.ts'
import {
  configuration,
  createFolder,
  hookToken,
  type Installation,
  install,
  until,
  writeInto,
} from '../installation.ts'

export const publicUrl = 'https://hooks.example.com'
export const signingSecret = 'uG3jQ9dT5hE1oS6xAaVzP8yM'

export interface Site {
  readonly clock: { now(): number; advance(ms: number): Promise<void> }
  /** The gateway that runs now. */
  readonly gateway: Installation
  readonly folder: string
  /** Where a public address leads at the moment. */
  reach(url: string): string | undefined
  /** Starts the gateway, with lines under `hooks:`, indented by two. */
  start(hooks: string): Promise<void>
  stop(): Promise<void>
  /** The state of the source once `passes` accepts it. The clock moves meanwhile, a second at a time. */
  source(name: string, passes: (state: SourceState) => boolean, timeoutMs?: number): Promise<SourceState>
  /** All requests of an endpoint with these outcomes. */
  requests(query: string): Promise<readonly RequestRecord[]>
}

export async function createSite(t: TestContext, start = Date.now()): Promise<Site> {
  const manual = createManualSourceClock(start)
  const folder = await createFolder(t, { 'reveille.yaml': configuration })
  let running: { readonly installation: Installation; readonly address: string } | undefined
  const clock = {
    ...manual,
    async advance(ms: number) {
      const end = manual.now() + ms
      for (let left = ms; left >= 0; left = end - manual.now()) {
        manual.advance(Math.min(left, manual.sleepers()[0] ?? left))
        await yieldToEventLoop()
        if (left === 0) return
      }
    },
  }
  const gateway = () => {
    if (running === undefined) throw new Error('The gateway does not run.')
    return running.installation
  }

  return {
    clock,
    folder,
    get gateway() {
      return gateway()
    },
    reach: (url) =>
      running && url.startsWith(publicUrl) ? url.replace(publicUrl, running.address) : undefined,
    async start(hooks) {
      const text = configuration
        .replace(/^hooks: .*\n/m, `hooks:\n  enabled: true\n  token: ${hookToken}\n${hooks}`)
        .replaceAll('{folder}', folder)
      await writeInto(folder, 'reveille.yaml', text)
      const installation = await install(t, {}, { folder, clock })
      running = { installation, address: await installation.gateway.listen() }
    },
    async stop() {
      const { installation } = running ?? {}
      running = undefined
      await installation?.gateway.close({ graceMs: 0 })
    },
    source: (name, passes, timeoutMs = 60_000) =>
      until(
        async () => {
          const { sources } = await gateway().read<{ sources: SourceState[] }>('/api/status')
          const found = sources.find((each) => each.source === name && passes(each))
          if (found === undefined) await clock.advance(1000)
          return found
        },
        `the source ${name}`,
        timeoutMs,
      ),
    async requests(query) {
      const items: RequestRecord[] = []
      for (let cursor = ''; ; ) {
        const page = await gateway().read<Page<RequestRecord>>(`/api/requests?limit=500&${query}${cursor}`)
        items.push(...page.items)
        if (!page.next) return items
        cursor = `&cursor=${encodeURIComponent(page.next)}`
      }
    },
  }
}
