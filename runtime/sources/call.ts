/** Makes the `SourceCall` of one run of a source: it works while the run lasts, and refuses everything afterwards. */

import {
  isPluginError,
  type PostLimits,
  type SourceCall,
  type SourceClock,
  type SourceReport,
  type SourceStorage,
  transientError,
} from '@reveille/kit'
import type { InternalReply, InternalRequest, PostInternally } from '../http/index.ts'
import { jsonOf } from './source-storage.ts'
import { readReport } from './state.ts'

/** The parts of the gateway that a source may use. */
export interface GatewayAccess {
  readonly clock: SourceClock
  readonly post: PostInternally
  limitsOf(endpoint: string): PostLimits
}

export interface CallOptions extends GatewayAccess {
  readonly source: string
  readonly storage: SourceStorage
  /** Resolves while this process is the one that runs the source. Default: it always is. */
  confirm?(): Promise<void>
  onReport(report: SourceReport): void
}

export type RunCall = ReturnType<typeof createCall>

/** A source that is to run: a plugin's, or one of the gateway itself. */
export interface RunnableSource {
  readonly name: string
  /** Runs as the contract of sources says. A plugin is given `call` alone. */
  run(call: SourceCall, host: HostCall): Promise<void>
}

/** Powers of a source of the gateway itself beside a plugin's. */
export interface HostCall {
  /** Posts as `SourceCall.post` does, with headers, and in the name of what the events come from. @throws as that does */
  post(
    request: Omit<InternalRequest, 'body' | 'signal'> & { body: unknown },
    signal?: AbortSignal,
  ): Promise<InternalReply>
}

export function createCall(options: CallOptions) {
  const { source, storage, clock, post, limitsOf, onReport } = options
  const abort = new AbortController()
  const { signal } = abort
  /** Calls under way. A race against the end of the run would keep its memory for as long as the run lasts. */
  const pending = new Set<(reason: unknown) => void>()
  const listeners = new Set<() => void>()
  let isOver = false

  /** Runs an action of the source. It is rejected if the run ends first. */
  const during = <Value>(action: () => Promise<Value>): Promise<Value> =>
    quiet(async () => {
      if (isOver) throw signal.reason
      return untilRejected(action, pending)
    })

  const host: HostCall = {
    post: (request, own) =>
      during(async () => {
        signal.throwIfAborted()
        await confirmLeadership(options)
        return postOnce(post, request, own ? AbortSignal.any([own, signal]) : signal)
      }),
  }

  const call: SourceCall = {
    signal,
    clock: { now: () => clock.now(), sleep: (ms, own) => quiet(async () => clock.sleep(ms, own)) },
    storage: {
      read: (name) => during(() => storage.read(name)),
      write: (name, value) =>
        during(async () => {
          await confirmLeadership(options)
          await storage.write(name, value)
        }),
    },
    post: (endpoint, body, own) => host.post({ endpoint, body, client: `source ${source}` }, own),
    limitsOf: (endpoint) => limitsOf(endpoint),
    onReloaded(listener) {
      if (!isOver) listeners.add(listener)
    },
    report(reported) {
      const report = isOver ? undefined : readReport(reported)
      if (report !== undefined) onReport(report)
    },
  }

  return {
    call,
    host,
    /** Asks the run to end. */
    abort: (reason: Error) => abort.abort(reason),
    /** Notifies the run that the configuration changed, except its own part. */
    reloaded() {
      for (const listener of listeners) {
        // A throw of the source must not reach the reload.
        quiet(async () => listener())
      }
    },
    /** Refuses all further calls of the run: it has ended or was abandoned. */
    end() {
      isOver = true
      listeners.clear()
      abort.abort(transientError('aborted', `The run of the source ${source} is over.`))
      for (const reject of pending) reject(signal.reason)
    },
  }
}

/** Another process may run the source by now, without this one having heard of it. */
async function confirmLeadership({ source, confirm }: CallOptions): Promise<void> {
  await confirm?.().catch((cause) => {
    throw transientError('aborted', `The source ${source} runs on another node.`, { cause })
  })
}

async function postOnce(
  post: CallOptions['post'],
  request: Parameters<HostCall['post']>[0],
  signal: AbortSignal,
): Promise<InternalReply> {
  signal.throwIfAborted()
  try {
    return await post({ ...request, body: jsonOf(request.body, 'What is posted'), signal })
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw isPluginError(cause) ? cause : transientError('network', 'The gateway did not answer.', { cause })
  }
}

/** Runs an action that whoever empties `pending` can reject before its end. */
async function untilRejected<Value>(
  action: () => Promise<Value>,
  pending: Set<(reason: unknown) => void>,
): Promise<Value> {
  const answer = Promise.withResolvers<Value>()
  pending.add(answer.reject)
  try {
    action().then(answer.resolve, answer.reject)
    return await answer.promise
  } finally {
    pending.delete(answer.reject)
  }
}

/** Prevents an unhandled rejection if the source does not await the answer. */
function quiet<Value>(action: () => Promise<Value>): Promise<Value> {
  const answer = action()
  answer.catch(() => {})
  return answer
}
