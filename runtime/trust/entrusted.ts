/** Owns what a provider tells only the operator: a file that nobody else can read, named in the log. */

import { hash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../observe/log.ts'
import { writeWhole } from '../write-whole.ts'

export interface Entrusted {
  readonly name: string
  readonly value: string
}

export interface EntrustedFiles {
  /**
   * In the place of what the policy was entrusted with before: nobody knows yet who sends it, so it is the last that
   * counts, until there is a secret.
   * @throws Error of the disk
   */
  keep(policy: string, entrusted: Entrusted): Promise<void>
}

export interface EntrustedOptions {
  /** Below the data folder; made when it is needed. */
  readonly folder: string
  readonly log: Pick<Log, 'warn'>
}

export function createEntrustedFiles({ folder, log }: EntrustedOptions): EntrustedFiles {
  /** By file: digest of what it holds, so that the same once more costs nothing. */
  const kept = new Map<string, string>()
  let writing: Promise<unknown> = Promise.resolve()

  async function write(policy: string, { name, value }: Entrusted): Promise<void> {
    const file = join(folder, fileNameOf(policy, name))
    const digest = hash('sha256', value)
    if (kept.get(file) === digest) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeWhole(file, `${value}\n`)
    kept.set(file, digest)
    log.warn({ event: 'entrusted-kept', endpoint: policy, name, file })
  }

  return {
    keep(policy, entrusted) {
      // One after the other: two at once would write to one draft.
      const written = writing.then(() => write(policy, entrusted))
      writing = written.catch(() => {})
      return written
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
