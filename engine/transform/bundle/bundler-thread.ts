/** The program of the bundling thread, which loads esbuild and holds its process, so that the gateway's own thread never waits. */

import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { stop } from 'esbuild'
import type { ThreadData } from '../../threads/thread.ts'
import type { Bundled } from '../port.ts'
import { type BundlingRequest, createBundler } from './bundling.ts'

export type ToThread = BundlingRequest | 'end'
export type FromThread = Bundled | Error

const bundling = createBundler()
const { port } = workerData as ThreadData
let last: Promise<unknown> = Promise.resolve()
/** esbuild's process. esbuild does not wait for its end, and nothing would if the thread ended first. */
let child: ChildProcess | undefined
let isEnding = false

subscribe('child_process', (message) => {
  child = (message as { readonly process: ChildProcess }).process
})

port.on('message', async (message: ToThread) => {
  if (message !== 'end') {
    last = bundle(message).catch((error: Error) => new Error(error.message))
    port.postMessage(await last)
    return
  }
  isEnding = true
  // esbuild's process reports a deadlock if it is ended while it asks the plugin.
  await last
  await endProcess()
  port.close()
})

/** Tries a second time, because esbuild's process may have been killed, for example for lack of memory. */
async function bundle(request: BundlingRequest): Promise<FromThread> {
  try {
    return await bundling.bundle(request)
  } catch (error) {
    // An error of the file system would occur again.
    if (isEnding || (error instanceof Error && 'code' in error)) throw error
    await bundling.dispose().catch(() => {})
    await endProcess()
    return bundling.bundle(request)
  }
}

async function endProcess(): Promise<void> {
  const isRunning = child !== undefined && child.exitCode === null && child.signalCode === null
  child?.ref()
  const ended = isRunning && child && once(child, 'exit')
  await stop()
  await ended
}
