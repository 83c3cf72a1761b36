/**
 * This is the program of the bundling thread, which loads esbuild and holds its process, so that the gateway's own
 * thread never waits.
 */

import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { stop } from 'esbuild'
import type { ThreadData } from '../../threads/thread.ts'
import { type BuildRequest, type BuildResult, buildModule } from './module-build.ts'

export type ToThread = BuildRequest | 'end'
export type FromThread = BuildResult | Error

/** The processes that esbuild started, because esbuild does not wait for their end. */
const processes = new Set<ChildProcess>()
let isEnding = false
const { port } = workerData as ThreadData

subscribe('child_process', (message) => {
  const { process: child } = message as { readonly process: ChildProcess }
  processes.add(child)
  child.once('exit', () => processes.delete(child))
})

port.on('message', async (message: ToThread) => {
  if (message === 'end') {
    isEnding = true
    await endProcesses()
    port.close()
    return
  }
  const answer: FromThread = await buildWithRetry(message).catch((error: Error) => new Error(error.message))
  port.postMessage(answer)
})

/** Tries a second time, because the bundler's process may have been killed, for example for lack of memory. */
async function buildWithRetry(request: BuildRequest): Promise<BuildResult> {
  try {
    return await buildModule(request)
  } catch (error) {
    // An error of the file system would occur again.
    if (isEnding || (error instanceof Error && 'code' in error)) throw error
    await endProcesses()
    return buildModule(request)
  }
}

/** Resolves when the processes have ended. Nothing would wait for them if the thread ended first. */
async function endProcesses(): Promise<void> {
  const ended = [...processes].map((child) => {
    child.ref()
    return once(child, 'exit')
  })
  await stop()
  await Promise.all(ended)
}
