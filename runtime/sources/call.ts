/** Owns what one run of a source is given: good while the run lasts, and refused from then on. */

import {
  isPluginError,
  PluginError,
  type PostLimits,
  type SourceCall,
  type SourceClock,
  type SourceReport,
  type SourceStorage,
} from '@reveille/kit'
import type { PostInternally, PushHandler } from '../http/index.ts'
import type { PushHandlers } from './push-handlers.ts'
import { readReport } from './state.ts'

/** What a source may do to the gateway that it runs in. */
export interface Outlets {
  readonly clock: SourceClock
  readonly post: PostInternally
  limitsOf(endpoint: string): PostLimits
}

export interface CallOptions extends Outlets {
  readonly source: string
  readonly storage: SourceStorage
  /** Undefined where nothing can be received. */
  readonly pushHandlers: PushHandlers | undefined
  onReport(report: SourceReport): void
}

export interface OwnCall {
  readonly call: SourceCall
  /** The run is to end. */
  abort(reason: Error): void
  /** The configuration changed, and not that of the source. */
  reloaded(): void
  /** It has ended, or nobody waits for it any more: nothing comes of what it does. */
  end(): void
}

export function createCall({
  source,
  storage,
  pushHandlers,
  clock,
  post,
  limitsOf,
  onReport,
}: CallOptions): OwnCall {
  const abort = new AbortController()
  const { signal } = abort
  /** What is on its way; a race against the end would be remembered for as long as the run lasts. */
  const pending = new Set<(reason: unknown) => void>()
  const claims = new Set<PushHandler>()
  const listeners = new Set<() => void>()
  let isOver = false

  /** What is answered after the end is a refusal. */
  const during = <Value>(action: () => Promise<Value>): Promise<Value> =>
    quiet(async () => {
      if (isOver) throw signal.reason
      const answer = Promise.withResolvers<Value>()
      pending.add(answer.reject)
      try {
        action().then(answer.resolve, answer.reject)
        return await answer.promise
      } finally {
        pending.delete(answer.reject)
      }
    })

  const call: SourceCall = {
    signal,
    clock: { now: () => clock.now(), sleep: (ms, own) => quiet(async () => clock.sleep(ms, own)) },
    storage: {
      read: (name) => during(() => storage.read(name)),
      write: (name, value) => during(() => storage.write(name, value)),
    },
    post: (endpoint, body, own) =>
      during(async () => {
        signal.throwIfAborted()
        const either = own ? AbortSignal.any([own, signal]) : signal
        either.throwIfAborted()
        try {
          return await post({ endpoint, body: jsonOf(body), by: `source ${source}`, signal: either })
        } catch (error) {
          if (either.aborted) throw either.reason
          throw isPluginError(error) ? error : unreachable(error)
        }
      }),
    limitsOf: (endpoint) => limitsOf(endpoint),
    receive(endpoint, take) {
      signal.throwIfAborted()
      if (pushHandlers === undefined) return false
      const pushHandler: PushHandler = (body) =>
        during(async () => {
          signal.throwIfAborted()
          await take(body)
        })
      pushHandlers.claim(endpoint, pushHandler)
      claims.add(pushHandler)
      return true
    },
    onReloaded(listener) {
      if (!isOver) listeners.add(listener)
    },
    report(told) {
      const report = isOver ? undefined : readReport(told)
      if (report !== undefined) onReport(report)
    },
  }

  return {
    call,
    abort: (reason) => abort.abort(reason),
    reloaded() {
      for (const listener of listeners) {
        // Whoever reloads is not to hear of what a source does about it.
        quiet(async () => listener())
      }
    },
    end() {
      isOver = true
      listeners.clear()
      pushHandlers?.release(claims)
      abort.abort(
        new PluginError(`The run of the source ${source} is over.`, { code: 'aborted', retryable: true }),
      )
      for (const reject of pending) reject(signal.reason)
    },
  }
}

/** A source that does not look at the answer is not to end the process. */
function quiet<Value>(action: () => Promise<Value>): Promise<Value> {
  const answer = action()
  answer.catch(() => {})
  return answer
}

function jsonOf(body: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(body)
  } catch {
    // Said below, in words that quote nothing of it.
  }
  if (text !== undefined) return text
  throw new PluginError('What is posted is no JSON.', { code: 'bad-request', retryable: false })
}

function unreachable(cause: unknown): PluginError {
  return new PluginError('The gateway did not answer.', { code: 'network', retryable: true, cause })
}
