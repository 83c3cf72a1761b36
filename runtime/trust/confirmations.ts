/** Owns confirmations: addresses that a handshake asks to be fetched once, in the background, told in the log. */

import { hash } from 'node:crypto'
import type { Log } from '../observe/log.ts'
import { getText, type Web } from './web.ts'

export interface Confirmations {
  /** `policy`: the name of the endpoint policy that it is for. An address that was fetched is not fetched again. */
  confirm(policy: string, url: string): void
  /** Resolves once nothing is on its way, which the end of the web's signal hastens. */
  settled(): Promise<void>
}

export interface ConfirmationsOptions {
  readonly web: Web
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Before each try but the first. */
const waitsMs = [2000, 10_000, 30_000]
const mostRemembered = 1000
const mostAtOnce = 32

export function createConfirmations({ web, log }: ConfirmationsOptions): Confirmations {
  /** Digests, the oldest first: the address holds a token. */
  const seen = new Set<string>()
  const running = new Set<Promise<void>>()

  async function perform(policy: string, url: string, mark: string): Promise<void> {
    const facts = { endpoint: policy, host: URL.parse(url)?.host }
    const reason = await tryAll(url)
    if (reason === undefined) {
      log.info({ event: 'subscription-confirmed', ...facts })
      return
    }
    // It may come again, and then it is tried again.
    seen.delete(mark)
    log.warn({ event: 'subscription-not-confirmed', ...facts, reason })
  }

  /** Undefined: it is done. */
  async function tryAll(url: string): Promise<string | undefined> {
    let reason: string | undefined
    for (const waitMs of [0, ...waitsMs]) {
      if (waitMs > 0) await pause(waitMs, web)
      if (web.signal.aborted) return 'the gateway is stopping'
      const { status } = await getText(url, web).catch(() => ({ status: undefined }))
      if (status !== undefined && status < 300) return undefined
      reason = status === undefined ? 'it could not be asked' : `it answered ${status}`
      if (status !== undefined && status < 500 && status !== 429) return reason
    }
    return reason
  }

  return {
    confirm(policy, url) {
      const mark = hash('sha256', url)
      if (seen.has(mark)) return
      if (running.size >= mostAtOnce) {
        const reason = 'too many confirmations are on their way'
        log.warn({ event: 'subscription-not-confirmed', endpoint: policy, reason })
        return
      }
      seen.add(mark)
      const [oldest] = seen
      if (seen.size > mostRemembered && oldest !== undefined) seen.delete(oldest)
      const performing = perform(policy, url, mark).finally(() => running.delete(performing))
      running.add(performing)
    },
    async settled() {
      await Promise.all(running)
    },
  }
}

function pause(ms: number, { timers, signal }: Web): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      timers.clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = timers.setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
