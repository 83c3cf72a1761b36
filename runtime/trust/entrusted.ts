/** Owns what a provider tells only the operator: a file that nobody else can read, named in the log. */

import { hash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UnavailableError } from '@reveille/engine'
import type { Log } from '../observe/log.ts'
import { writeWhole } from '../write-whole.ts'

export interface Entrusted {
  readonly name: string
  readonly value: string
}

export interface EntrustedFiles {
  /**
   * In the place of what the policy was entrusted with before: nobody knows yet who sends it, so it is the last that
   * counts, until there is a secret and nothing is entrusted any more.
   * @throws UnavailableError when the disk fails, or the policy was entrusted with something only a moment ago
   */
  keep(policy: string, entrusted: Entrusted): Promise<void>
}

export interface EntrustedOptions {
  /** Below the data folder; made when it is needed. */
  readonly folder: string
  readonly log: Pick<Log, 'warn' | 'error'>
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

/** Anybody may send something: this bounds what that costs in writes and in lines of the log. */
const momentMs = 2000

export function createEntrustedFiles({ folder, log, now }: EntrustedOptions): EntrustedFiles {
  /** By policy, of which there are as many as the operator wrote. */
  const lastAt = new Map<string, number>()
  const writing = new Set<string>()

  return {
    async keep(policy, { name, value }) {
      const sinceLast = now() - (lastAt.get(policy) ?? Number.NEGATIVE_INFINITY)
      if (writing.has(policy) || (sinceLast >= 0 && sinceLast < momentMs))
        throw new UnavailableError('The policy was entrusted with something only a moment ago.')
      writing.add(policy)
      lastAt.set(policy, now())
      try {
        const file = join(folder, fileNameOf(policy, name))
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeWhole(file, `${value}\n`)
        log.warn({ event: 'entrusted-kept', endpoint: policy, name, file })
      } catch (cause) {
        log.error({ event: 'entrusted-not-kept', endpoint: policy, name, err: cause })
        throw new UnavailableError('What was entrusted to the operator could not be kept.', { cause })
      } finally {
        writing.delete(policy)
      }
    },
  }
}

const plain = /^[a-z0-9][a-z0-9_-]{0,59}$/

/** Different for different policies on every file system, whatever characters their names hold. */
function fileNameOf(policy: string, name: string): string {
  if (plain.test(policy)) return `${policy}-${name}`
  const readable = policy
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  return `${readable}.${hash('sha256', policy).slice(0, 12)}-${name}`
}
