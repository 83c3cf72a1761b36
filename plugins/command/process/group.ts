/**
 * Ends process groups: a program together with everything that it started.
 *
 *   running --end--> terminating (TERM) --empty, or grace over (KILL)--> gone
 *
 * A program started with `detached` leads a group of its own, whose id is the program's. A process that leaves the group on
 * purpose (`setsid`) is out of reach. Windows has no groups, so that only the program itself is ended there.
 */

import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

export type ProcessGroup = ReturnType<typeof createProcessGroup>

/** Milliseconds between checks of a terminating group. */
const checkEveryMs = 20
/** Milliseconds that the system may take to carry out a KILL. */
const deathMs = 1000

export function createProcessGroup(child: ChildProcess, isWindows: boolean) {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let ending: Promise<void> | undefined

  /** Sends a signal, and returns false if the group is empty. */
  function signal(name: NodeJS.Signals | 0): boolean {
    if (child.pid === undefined) return false
    if (isWindows) return name === 0 ? isRunning(child) : child.kill(name)
    try {
      return process.kill(-child.pid, name)
    } catch (error) {
      // A process that may not be signalled exists.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }

  async function endGently(graceMs: number): Promise<void> {
    if (!signal('SIGTERM')) return
    if (await isGoneWithin(graceMs)) return
    signal('SIGKILL')
    // A dead process that its parent never collects seems to exist forever, so the wait is bounded.
    await isGoneWithin(deathMs)
    if (isRunning(child)) await exited
  }

  async function isGoneWithin(ms: number): Promise<boolean> {
    for (let waited = 0; waited < ms; waited += checkEveryMs) {
      await wait(Math.min(checkEveryMs, ms - waited))
      if (!signal(0)) return true
    }
    return false
  }

  return {
    /** Ends the group and settles when all of its processes are gone. The first call decides the grace. */
    end(graceMs: number): Promise<void> {
      ending ??= endGently(graceMs)
      return ending
    },
    /** Kills the group at once, for a gateway that is about to end itself. */
    kill: () => void signal('SIGKILL'),
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}
