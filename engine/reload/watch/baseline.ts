/**
 * Owns what is known of the watched paths: the facts that the next survey is compared with.
 *
 * A folder is watched for events before its facts are taken. So whatever happens is an event, or makes facts differ.
 */

import { fileFact, isFileFact, isFolderFact, lookAt } from './fact.ts'
import { createFacts } from './facts.ts'
import type { FolderEvents } from './folder-events.ts'
import { type SurveyOptions, takeSurvey } from './survey.ts'

export interface Baseline {
  /** From the next survey on. */
  setPaths(paths: ReadonlySet<string>): void
  /** Looks at everything. @returns whether anything differs from what was known */
  survey(): Promise<boolean>
  /** Something happened to this path; undefined: to nobody knows what. */
  touch(path: string | undefined): void
  /** Looks at what was touched, and at everything if that is more than contents of files. */
  update(): Promise<void>
  isKnownFile(path: string): boolean
  /** Whether a path is or was a folder, or a link that may lead to one. */
  isOrWasFolder(path: string): Promise<boolean>
}

export interface BaselineOptions extends Pick<SurveyOptions, 'now' | 'signal'> {
  /** Undefined where there are none. */
  events(): FolderEvents | undefined
}

/** Folders that come and go while they are surveyed are left to the next survey. */
const mostRounds = 5
/** More files than these are looked at by a survey: it is sliced. */
const mostTouched = 1000

export function createBaseline({ events, now, signal }: BaselineOptions): Baseline {
  const facts = createFacts()
  let paths: ReadonlySet<string> = new Set()
  let touched = new Set<string>()
  let isOutdated = true

  async function survey(): Promise<boolean> {
    let differs = false
    isOutdated = false
    touched = new Set()
    for (let round = 0; round < mostRounds; round++) {
      const folders = await takeSurvey(paths, { facts, now, signal })
      if (facts.conclude()) differs = true
      // What happened in a new folder before it was watched is not told: it is looked at once more.
      if (!(await events()?.observe(folders))) break
    }
    return differs
  }

  /** False: it is no known file any more. */
  async function look(path: string): Promise<boolean> {
    const stats = isFileFact(facts.get(path)) ? await lookAt(path) : undefined
    if (typeof stats !== 'object' || !stats.isFile()) return false
    facts.replace(path, fileFact(stats, now()))
    return true
  }

  return {
    survey,
    setPaths(given) {
      paths = given
    },
    touch(path) {
      if (path === undefined || touched.size === mostTouched) isOutdated = true
      else touched.add(path)
    },
    async update() {
      const files = touched
      touched = new Set()
      for (const file of files) {
        isOutdated ||= !(await look(file))
        if (isOutdated) break
      }
      if (isOutdated) await survey()
    },
    isKnownFile: (path) => isFileFact(facts.get(path)),
    async isOrWasFolder(path) {
      if (isFolderFact(facts.get(path))) return true
      const stats = await lookAt(path)
      return typeof stats === 'object' && (stats.isDirectory() || stats.isSymbolicLink())
    },
  }
}
