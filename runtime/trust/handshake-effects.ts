/** Does what a handshake asks for besides its reply: confirms subscriptions, and keeps secrets for the operator. */

import { hash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Handshake, UnavailableError } from '@reveille/engine'
import { BoundedMap } from '@reveille/kit'
import type { Log } from '../observe/log.ts'
import { pause } from '../pause.ts'
import { writeWhole } from '../write-whole.ts'
import { getText, type Web } from './web.ts'

/** The waits before each try after the first. */
const waitsMs = [2000, 10_000, 30_000]
const maxRemembered = 1000
const maxAtOnce = 32

export function createConfirmations({ web, log }: { web: Web; log: Pick<Log, 'info' | 'warn'> }) {
  /** Hashes of addresses, which hold a token; the oldest first. */
  const seen = new BoundedMap<string, true>(maxRemembered)
  const running = new Set<Promise<void>>()

  async function perform(policy: string, url: string, key: string): Promise<void> {
    const facts = { endpoint: policy, host: URL.parse(url)?.host }
    const reason = await fetchWithRetries(url)
    if (reason === undefined) {
      log.info({ event: 'subscription-confirmed', ...facts })
      return
    }
    // The provider may ask again, and then the address is tried again.
    seen.delete(key)
    log.warn({ event: 'subscription-not-confirmed', ...facts, reason })
  }

  /** Resolves with the reason of the failure, or with undefined once the address was fetched. */
  async function fetchWithRetries(url: string): Promise<string | undefined> {
    let reason: string | undefined
    for (const waitMs of [0, ...waitsMs]) {
      if (waitMs > 0) await pause(waitMs, [web.signal], web.timers)
      if (web.signal.aborted) return 'the gateway is stopping'
      const { status } = await getText(url, web).catch(() => ({ status: undefined }))
      if (status !== undefined && status < 300) return undefined
      reason = status === undefined ? 'it could not be asked' : `it answered ${status}`
      if (status !== undefined && status < 500 && status !== 429) return reason
    }
    return reason
  }

  return {
    /** Fetches an address once, in the background, and logs the result. `policy` names the endpoint policy that it is for. */
    confirm(policy: string, url: string): void {
      const key = hash('sha256', url)
      if (seen.has(key)) return
      if (running.size >= maxAtOnce) {
        const reason = 'too many confirmations are on their way'
        log.warn({ event: 'subscription-not-confirmed', endpoint: policy, reason })
        return
      }
      seen.set(key, true)
      const performing = perform(policy, url, key).finally(() => running.delete(performing))
      running.add(performing)
    },
    /** Resolves once no confirmation is under way. Aborting the signal of the web ends them early. */
    async settled(): Promise<void> {
      await Promise.all(running)
    },
  }
}

/** Anybody may send a secret, so this bounds how often one is written and logged. Milliseconds. */
const momentMs = 2000

/** `folder`: below the data folder, made when it is needed. `now`: milliseconds since the Unix epoch. */
export function createStoredSecrets(options: {
  readonly folder: string
  readonly log: Pick<Log, 'warn' | 'error'>
  readonly now: () => number
}) {
  const { folder, log, now } = options
  /** By policy. The operator wrote the policies, so that their number is fixed. */
  const lastAt = new Map<string, number>()
  const writing = new Set<string>()

  return {
    /**
     * Writes a secret that a provider sent for the operator. Its sender cannot be authenticated yet, so the last one is written in
     * the place of the earlier ones, of which the first is kept beside it, and the log says from which client each came.
     * @throws UnavailableError when the disk fails, or the policy was sent a secret only a moment ago
     */
    async keep(
      policy: string,
      { name, value }: NonNullable<Handshake['issuedSecret']>,
      client: string,
    ): Promise<void> {
      const sinceLast = now() - (lastAt.get(policy) ?? Number.NEGATIVE_INFINITY)
      if (writing.has(policy) || (sinceLast >= 0 && sinceLast < momentMs))
        throw new UnavailableError('A secret of this policy was stored only a moment ago.')
      writing.add(policy)
      lastAt.set(policy, now())
      try {
        const file = join(folder, fileNameOf(policy, name))
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const before = await readFile(file, 'utf8').catch(unlessMissing)
        const facts = { endpoint: policy, name, file, client }
        if (before === undefined || before === `${value}\n`) {
          await writeWhole(file, `${value}\n`)
          log.warn({ event: 'secret-stored', ...facts })
        } else {
          const first = `${file}.first`
          if ((await readFile(first, 'utf8').catch(unlessMissing)) === undefined)
            await writeWhole(first, before)
          await writeWhole(file, `${value}\n`)
          log.warn({ event: 'secret-replaced', ...facts, first })
        }
      } catch (cause) {
        log.error({ event: 'secret-not-stored', endpoint: policy, name, err: cause })
        throw new UnavailableError('The secret that the provider issued could not be stored.', { cause })
      } finally {
        writing.delete(policy)
      }
    },
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

const plain = /^[a-z0-9][a-z0-9_-]{0,59}$/

/** Different policies have different file names on every file system, whatever characters their names hold. */
function fileNameOf(policy: string, name: string): string {
  if (plain.test(policy)) return `${policy}-${name}`
  const readable = policy
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  return `${readable}.${hash('sha256', policy).slice(0, 12)}-${name}`
}
