/** Owns whether files and places are as they were: each is looked at once for all modules, and read only if it may have changed. */

import { stat } from 'node:fs/promises'
import { askedOnce } from './asked-once.ts'
import { hashFile, isAbsent } from './file-hash.ts'
import { leadsTo } from './places.ts'
import type { BundleRecord } from './record.ts'

/** What of a file's metadata changes whenever its content does. */
interface Mark {
  readonly text: string
  readonly hash: string
}

export interface Inspector {
  /** A round in which every path is asked once. */
  begin(): Inspection
}

export interface Inspection {
  /** SHA-256 in hex; undefined where there is no such file. */
  hashOf(file: string): Promise<string | undefined>
  /** Whether everything that had a say in a bundle is as it was. */
  isCurrent(record: Pick<BundleRecord, 'files' | 'places'>): Promise<boolean>
}

/**
 * A file that changed this shortly before it was read may change again within one tick of its file system's clock, and
 * look the same; milliseconds.
 */
const unsureMs = 2_000
const batch = 64

export function createInspector(now: () => number = Date.now): Inspector {
  /** From one round to the next; a path that a round did not ask for is forgotten. */
  let known = new Map<string, Mark>()

  return {
    begin() {
      const before = known
      const marks = new Map<string, Mark>()
      known = marks

      async function look(file: string): Promise<string | undefined> {
        const readAt = now()
        const found = await markOf(file)
        if (found === undefined) return undefined
        const last = before.get(file)
        if (last?.text === found.text) {
          marks.set(file, last)
          return last.hash
        }
        const hash = await hashFile(file)
        if (hash !== undefined && readAt - found.changedMs > unsureMs)
          marks.set(file, { text: found.text, hash })
        return hash
      }

      const inspection: Inspection = {
        hashOf: askedOnce(new Map(), look),
        isCurrent: async ({ files, places }) =>
          (await allHold(
            Object.entries(files),
            async ([file, hash]) => (await inspection.hashOf(file)) === hash,
          )) &&
          (await allHold(Object.entries(places), async ([place, target]) => (await leads(place)) === target)),
      }
      const leads = askedOnce(new Map(), leadsTo)
      return inspection
    },
  }
}

/** Asks so many at a time that asking itself holds nobody up, and no more after one that does not hold. */
async function allHold<Item>(
  items: readonly Item[],
  holds: (item: Item) => Promise<boolean>,
): Promise<boolean> {
  for (let from = 0; from < items.length; from += batch) {
    const answers = await Promise.all(items.slice(from, from + batch).map(holds))
    if (answers.includes(false)) return false
  }
  return true
}

async function markOf(file: string): Promise<{ text: string; changedMs: number } | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = await stat(file, { bigint: true })
    return { text: [dev, ino, size, mtimeNs, ctimeNs].join(' '), changedMs: Number(ctimeMs) }
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
