/** Owns the thread that bundles: it loads the bundler and holds its process, so that the gateway's own thread never waits. */

import { parentPort } from 'node:worker_threads'
import { endProcesses, noteProcesses } from './bundler-process.ts'
import { buildModule } from './module-build.ts'
import type { BundleOrder, BundleOutcome } from './outcome.ts'

export type ToThread =
  | { readonly type: 'build'; readonly id: number; readonly order: BundleOrder }
  | { readonly type: 'end' }

export type FromThread =
  | { readonly type: 'built'; readonly id: number; readonly outcome: BundleOutcome }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  | { readonly type: 'ended' }

noteProcesses()
let isEnding = false
let ending: Promise<void> | undefined

parentPort?.on('message', async (message: ToThread) => {
  if (message.type === 'end') {
    isEnding = true
    await endProcesses()
    answer({ type: 'ended' })
    parentPort?.close()
    return
  }
  const { id, order } = message
  try {
    answer({ type: 'built', id, outcome: await buildPatiently(order) })
  } catch (error) {
    answer({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) })
  }
})

/** The bundler's process may have been killed, as by a lack of memory; a second try gets a new one. */
async function buildPatiently(order: BundleOrder): Promise<BundleOutcome> {
  try {
    return await buildModule(order)
  } catch (error) {
    // What the file system says would be said again.
    if (isEnding || (error instanceof Error && 'code' in error)) throw error
    // Orders that were lost together wait for one end, so that none ends what another has begun.
    ending ??= endProcesses().finally(() => {
      ending = undefined
    })
    await ending
    return buildModule(order)
  }
}

function answer(message: FromThread): void {
  parentPort?.postMessage(message)
}
