/** Downloads keys and certificates for verifiers, and keeps copies within the times that their servers give. */

import { UnavailableError, type VerifyDependencies } from '@reveille/engine'
import { BoundedMap } from '@reveille/kit'
import { getText, type Web } from './web.ts'

interface Copy {
  readonly text: string
  readonly at: number
  readonly freshMs: number
}

interface Failure {
  readonly error: UnavailableError
  readonly at: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** The bounds of the time that a server gives. */
const minFreshMs = 5 * minuteMs
const maxFreshMs = dayMs
const defaultFreshMs = hourMs
/** Milliseconds that a copy is used beyond its time while its server cannot be reached. */
const staleMs = dayMs
/** Minimum time between two downloads of one address for callers that want a fresh copy. */
const refreshMs = minuteMs
const failureMs = 10_000
const maxAddresses = 100
const maxAtOnce = 16

/** `now`: milliseconds since the Unix epoch. */
export function createDownloads({ web, now }: { web: Web; now: () => number }): VerifyDependencies {
  /** Both in the order of their use, the oldest first. */
  const copies = new BoundedMap<string, Copy>(maxAddresses)
  const failures = new BoundedMap<string, Failure>(maxAddresses)
  const running = new Map<string, Promise<string>>()

  async function fetchCopy(url: string): Promise<string> {
    const at = now()
    try {
      const { status, headers, text } = await getText(url, web)
      if (status !== 200)
        throw new UnavailableError(`The server answered ${status}.`, { isAbsent: isGone(status) })
      keep(copies, url, { text, at, freshMs: freshMsOf(headers) })
      failures.delete(url)
      return text
    } catch (cause) {
      const error =
        cause instanceof UnavailableError
          ? cause
          : new UnavailableError('The server could not be asked.', { cause })
      keep(failures, url, { error, at })
      throw error
    }
  }

  /** All callers that ask for an address at a time share one download. */
  function fetchOnce(url: string): Promise<string> {
    const underway = running.get(url)
    if (underway !== undefined) return underway
    if (running.size >= maxAtOnce) throw new UnavailableError('Too many downloads are on their way.')
    const fetching = fetchCopy(url).finally(() => running.delete(url))
    running.set(url, fetching)
    return fetching
  }

  /** The failure of the last download, unless it is older than `withinMs`. */
  function recentFailure(url: string, withinMs: number): UnavailableError | undefined {
    const failure = failures.get(url)
    return failure && isWithin(failure.at, withinMs) ? failure.error : undefined
  }

  /** A clock that was set back makes a copy too old, never too new. */
  function isWithin(at: number, ms: number): boolean {
    const age = now() - at
    return age >= 0 && age < ms
  }

  return {
    async download(url, { fresh = false } = {}) {
      const copy = copies.get(url)
      if (copy && isWithin(copy.at, fresh ? refreshMs : copy.freshMs)) {
        keep(copies, url, copy)
        return copy.text
      }
      try {
        const failed = recentFailure(url, fresh ? refreshMs : failureMs)
        if (failed) throw failed
        return await fetchOnce(url)
      } catch (error) {
        if (copy && !fresh && isWithin(copy.at, copy.freshMs + staleMs)) return copy.text
        throw error
      }
    },
  }
}

/** Puts a value at the end of the order, also if it was there before. */
function keep<Value>(kept: Map<string, Value>, url: string, value: Value): void {
  kept.delete(url)
  kept.set(url, value)
}

function isGone(status: number): boolean {
  return status === 404 || status === 410
}

/** https://www.rfc-editor.org/rfc/rfc9111#section-4.2 */
function freshMsOf(headers: Headers): number {
  const [, seconds] = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(headers.get('cache-control') ?? '') ?? []
  if (seconds === undefined) return defaultFreshMs
  const [age = '0'] = /^\d{1,10}$/.exec(headers.get('age') ?? '') ?? []
  return Math.min(maxFreshMs, Math.max(minFreshMs, (Number(seconds) - Number(age)) * 1000))
}
