/** Owns the end of the bundler's process, which the bundler itself starts and does not wait for. */

import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { stop } from 'esbuild'

const running = new Set<ChildProcess>()

/** Takes note of the processes that this thread starts from now on. */
export function noteProcesses(): void {
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess }
    running.add(child)
    child.once('exit', () => running.delete(child))
  })
}

/**
 * Resolves when they have ended. A thread that ends before its process did would leave it to nobody, and what is left of
 * it would stay until the gateway ends.
 */
export async function endProcesses(): Promise<void> {
  const ended = [...running].map((child) => {
    child.ref()
    return once(child, 'exit')
  })
  await stop()
  await Promise.all(ended)
}
