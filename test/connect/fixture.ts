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

export type Site = Awaited<ReturnType<typeof createSite>>

export async function createSite(t: TestContext, start = Date.now()) {
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

  /** Asks until there is an answer. The clock moves meanwhile, a second at a time. */
  function soon<Value>(ask: () => Promise<Value | undefined>, what: string, timeoutMs = 60_000) {
    return until(
      async () => {
        const value = await ask()
        if (value === undefined) await clock.advance(1000)
        return value
      },
      what,
      timeoutMs,
    )
  }

  return {
    clock,
    folder,
    /** The gateway that runs now. */
    get gateway() {
      return gateway()
    },
    /** Where a public address leads at the moment. */
    reach: (url: string) =>
      running && url.startsWith(publicUrl) ? url.replace(publicUrl, running.address) : undefined,
    /** Starts the gateway, with lines under `hooks:`, indented by two. */
    async start(hooks: string) {
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
    soon,
    /** The state of the source once `passes` accepts it. */
    source: (name: string, passes: (state: SourceState) => boolean, timeoutMs?: number) =>
      soon(
        async () => {
          const { sources } = await gateway().read<{ sources: SourceState[] }>('/api/status')
          return sources.find((each) => each.source === name && passes(each))
        },
        `the source ${name}`,
        timeoutMs,
      ),
    /** All requests that the query finds. */
    async requests(query: string) {
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
