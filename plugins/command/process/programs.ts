/** Runs the programs of one runner: one at a time in a session, and none that outlives the plugin. */

import { unlessAborted } from '@reveille/kit'
import type { ProcessGroup } from './group.ts'
import { type Program, type ProgramCall, startProgram } from './program.ts'

export type Programs = ReturnType<typeof createPrograms>

export function createPrograms() {
  const groups = new Set<ProcessGroup>()
  const endings = new Map<string, Promise<void>>()

  /** Kills all programs, for a gateway that ends without closing its plugins. */
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
    /** Starts a program once the previous one of the session is gone. */
    async start(sessionKey: string, call: ProgramCall): Promise<Program> {
      await unlessAborted(Promise.resolve(endings.get(sessionKey)), call.signal).catch(() => undefined)
      const program = startProgram(call)
      const ending = follow(program, call.graceMs).finally(() => {
        if (endings.get(sessionKey) === ending) endings.delete(sessionKey)
      })
      endings.set(sessionKey, ending)
      return program
    },
    /** Resolves when all programs that were stopped are gone. */
    async close() {
      await Promise.all(endings.values())
    },
  }
}
