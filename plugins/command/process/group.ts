/**
 * Owns process groups: a program and whatever it started, ended together.
 *
 *   running --end--> told (TERM) --empty, or grace over (KILL)--> gone
 *
 * A program started with `detached` leads a group of its own, whose id is the program's. Whoever leaves that group on
 * purpose (`setsid`) is out of reach. Windows knows no groups: there only the program itself is ended.
 */

import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

export interface ProcessGroup {
  /** Settles when all are gone. The first call decides. */
  end(graceMs: number): Promise<void>
  /** At once and without a word, for a gateway that is about to be gone itself. */
  kill(): void
}

/** How often a group that was told to stop is looked at. Milliseconds. */
const lookEveryMs = 20
/** What the system may take to carry out a KILL. Milliseconds. */
const deathMs = 1000

export function createProcessGroup(child: ChildProcess, isWindows: boolean): ProcessGroup {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let ending: Promise<void> | undefined

  /** False when nobody is there any more. */
  function signal(name: NodeJS.Signals | 0): boolean {
    if (child.pid === undefined) return false
    if (isWindows) return name === 0 ? isRunning(child) : child.kill(name)
    try {
      return process.kill(-child.pid, name)
    } catch (error) {
      // Somebody who may not be told is somebody.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }

  async function endGently(graceMs: number): Promise<void> {
    if (!signal('SIGTERM')) return
    if (await isGoneWithin(graceMs)) return
    signal('SIGKILL')
    // Whoever is dead but never collected by its parent is counted as there for ever, so this has an end.
    await isGoneWithin(deathMs)
    if (isRunning(child)) await exited
  }

  async function isGoneWithin(ms: number): Promise<boolean> {
    for (let waited = 0; waited < ms; waited += lookEveryMs) {
      await wait(Math.min(lookEveryMs, ms - waited))
      if (!signal(0)) return true
    }
    return false
  }

  return {
    end(graceMs) {
      ending ??= endGently(graceMs)
      return ending
    },
    kill: () => void signal('SIGKILL'),
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}
