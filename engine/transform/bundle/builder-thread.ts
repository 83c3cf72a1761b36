/** The thread that bundles: it loads esbuild and holds its process, so that the gateway's own thread never waits. */

import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { stop } from 'esbuild'
import { type BuildRequest, type BuildResult, buildModule } from './module-build.ts'

export type ToThread = BuildRequest | 'end'
export type FromThread = BuildResult | Error

/** The processes that esbuild started; it does not wait for their end itself. */
const processes = new Set<ChildProcess>()
let isEnding = false

subscribe('child_process', (message) => {
  const { process: child } = message as { readonly process: ChildProcess }
  processes.add(child)
  child.once('exit', () => processes.delete(child))
})

parentPort?.on('message', async (message: ToThread) => {
  if (message === 'end') {
    isEnding = true
    await endProcesses()
    parentPort?.close()
    return
  }
  const answer: FromThread = await buildWithRetry(message).catch((error: Error) => new Error(error.message))
  parentPort?.postMessage(answer)
})

/** The bundler's process may have been killed, as by a lack of memory; a second try gets a new one. */
async function buildWithRetry(request: BuildRequest): Promise<BuildResult> {
  try {
    return await buildModule(request)
  } catch (error) {
    // An error of the file system would come again.
    if (isEnding || (error instanceof Error && 'code' in error)) throw error
    await endProcesses()
    return buildModule(request)
  }
}

/** Resolves when the processes have ended. If the thread ended before them, nothing would wait for them any more. */
async function endProcesses(): Promise<void> {
  const ended = [...processes].map((child) => {
    child.ref()
    return once(child, 'exit')
  })
  await stop()
  await Promise.all(ended)
}
