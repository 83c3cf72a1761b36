/** Owns the programs that one runner has under way: one at a time in a session, and none that outlives the plugin. */

import type { ProcessGroup } from './group.ts'
import { type Program, type ProgramCall, startProgram } from './program.ts'

export interface Programs {
  /** Waits until what ran in that session before is gone. */
  start(sessionKey: string, call: ProgramCall): Promise<Program>
  /** Settles when all are gone that were told to stop. */
  close(): Promise<void>
}

export function createPrograms(): Programs {
  const groups = new Set<ProcessGroup>()
  const goings = new Map<string, Promise<void>>()

  /** A gateway that ends without closing its plugins takes its programs along. */
  function killAll(): void {
    for (const group of groups) group.kill()
  }

  async function follow(program: Program, graceMs: number): Promise<void> {
    const { group } = program
    if (group === undefined) return
    if (groups.size === 0) process.on('exit', killAll)
    groups.add(group)
    await program.ended
    await group.end(graceMs)
    groups.delete(group)
    if (groups.size === 0) process.off('exit', killAll)
  }

  return {
    async start(sessionKey, call) {
      await Promise.race([goings.get(sessionKey), aborted(call.signal)])
      const program = startProgram(call)
      const going = follow(program, call.graceMs).finally(() => {
        if (goings.get(sessionKey) === going) goings.delete(sessionKey)
      })
      goings.set(sessionKey, going)
      return program
    },
    async close() {
      await Promise.all(goings.values())
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
