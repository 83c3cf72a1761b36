/** Remembers the sign-ins that were ended before their time, also over a restart. Each node of several remembers its own. */

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../write-whole.ts'

/** A sign-out needs a sign-in, so that nobody makes these many without a token; the oldest are forgotten first. */
const maxRemembered = 10_000

export function createSignOuts({ folder, now }: { readonly folder: string; readonly now: () => number }) {
  const file = path.join(folder, 'sign-outs.json')
  let known: Map<string, number> | undefined

  /** By the id of the sign-in: when it would have ended by itself. */
  function ended(): Map<string, number> {
    known ??= new Map(read(file))
    return known
  }

  return {
    has: (signIn: string) => ended().has(signIn),
    async add(signIn: string, until: number): Promise<void> {
      const all = ended()
      for (const [id, at] of all) if (at <= now() || all.size >= maxRemembered) all.delete(id)
      all.set(signIn, until)
      await writeWhole(file, JSON.stringify([...all]))
    },
  }
}

function read(file: string): [string, number][] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as [string, number][]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
