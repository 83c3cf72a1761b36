/** `reveille webhooks NAME run`: runs a source in this process, and posts its events to a gateway. */

import { keyOfSource, type Settings } from '@reveille/engine'
import {
  asRecord,
  callVendor,
  createPluginFetch,
  PluginError,
  type Posted,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'
import { type InternalRequest, postLimitsOf } from '../../http/index.ts'
import { createLog } from '../../observe/log.ts'
import { PluginSetupError, type StartedSource, startSource } from '../../plugin/index.ts'
import { createSourceClock, createSources, type SourceState, sourcesFolder } from '../../sources/index.ts'
import { withSnapshot } from '../authoring/compile.ts'
import { connectionTo, namedAddress } from '../client.ts'
import { badUsage, type CommandFailure, failure } from '../command-failure.ts'
import { findConfiguration, shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import { createStopSignal } from '../signals.ts'
import type { Connected } from './task.ts'

/** @returns 0 once it was stopped; 1 where another process runs the source, or it is not configured */
export async function runSource({ name }: Connected, io: Io): Promise<number> {
  const { json = false } = io
  const file = findConfiguration(io)
  const snapshot = await withSnapshot(io, async (made) => made)
  const { settings } = snapshot
  if (settings.gateway.store !== 'sqlite') {
    throw badUsage(
      'With `gateway.store` on a server one node of the cluster runs the source; nothing else may.',
    )
  }
  if (settings.sources[name] === undefined) {
    const setUp = `\`reveille webhooks ${name} setup\``
    throw failure(`${shownPath(file, io)} has no ${keyOfSource(name)}. Set it up: ${setUp}`)
  }
  const target = await targetOf(settings, io)
  const { log, flush } = createLog({
    level: settings.gateway.log.level,
    ...(json ? { format: 'json' as const } : settings.gateway.log),
    stream: {
      write: io.err,
      isTTY: io.columns !== undefined,
      ...(io.columns !== undefined && { columns: io.columns }),
    },
  })

  const ended = Promise.withResolvers<CommandFailure | undefined>()
  const stop = createStopSignal({ signals: io.signals })
  void stop.first.then(() => ended.resolve(undefined))
  const source = await start()
  const sources = createSources({
    live: () => [source],
    folder: sourcesFolder(settings.gateway.dataDir),
    log,
    clock: createSourceClock(io.now),
    post: createPost(target, io.fetch),
    limitsOf: (endpoint) => postLimitsOf(snapshot, endpoint),
    onState: report,
  })
  // Where there is no terminal, the log says it.
  if (!json && io.columns !== undefined)
    io.err(`What ${name} fetches goes to ${target.address}${target.path} until Ctrl-C.\n`)
  sources.apply()
  try {
    const failure = await ended.promise
    if (failure !== undefined) throw failure
    return 0
  } finally {
    await sources.close()
    await source.close()
    stop.close()
    await flush()
  }

  async function start(): Promise<StartedSource> {
    try {
      return await startSource(name, settings, { log, fetch: io.fetch })
    } catch (error) {
      stop.close()
      if (!(error instanceof PluginSetupError)) throw error
      throw failure(error.message, { cause: error })
    }
  }

  function report(state: SourceState): void {
    if (json) io.out(`${JSON.stringify({ time: io.now(), ...state })}\n`)
    if (state.state !== 'held-elsewhere') return
    const folder = shownPath(settings.gateway.dataDir, io)
    ended.resolve(
      failure(
        `Another process runs ${name} already, on the data folder ${folder}: the gateway, or a second run of this.`,
      ),
    )
  }
}

/** The gateway of `--config`, else of REVEILLE_URL, else of the configuration that was found. @throws CommandFailure */
async function targetOf(settings: Settings, io: Io): Promise<Target> {
  const { hooks, file } = settings
  const address = namedAddress(io)
  if (address !== undefined) {
    const token = io.env['REVEILLE_HOOK_TOKEN']
    if (!token) throw badUsage(`REVEILLE_HOOK_TOKEN is not set; ${address} accepts nothing without it.`)
    return { address, path: hooks.path, token }
  }
  const [token] = hooks.tokens
  if (!hooks.enabled || token === undefined) {
    const missing = hooks.enabled ? 'hooks.token' : 'hooks.enabled: true'
    throw failure(`${missing} is missing in ${file}: its gateway accepts nothing without it.`)
  }
  const { address: running } = await connectionTo(settings, io)
  return { address: running, path: hooks.path, token }
}

/** Milliseconds that one answer may take, which comes when the request is on disk. */
const answerMs = 60_000

export interface Target {
  /** Without a slash at the end. */
  readonly address: string
  /** `hooks.path`. */
  readonly path: string
  readonly token: string
}

/** @throws PluginError `network`, retryable, unless a gateway has answered; the reason of the signal */
export function createPost(
  { address, path, token }: Target,
  fetch: typeof globalThis.fetch,
): (request: Omit<InternalRequest, 'client'>) => Promise<Posted> {
  const { signal: open } = new AbortController()
  // It follows no redirect: the token must not go to another server.
  const ask = createPluginFetch({ fetch, log: { debug() {} }, owner: {}, signal: open })
  return async ({ endpoint, body, signal }) => {
    const late = AbortSignal.timeout(answerMs)
    const answer = await callVendor(ask, {
      url: `${address}${path}/${endpoint}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    }).catch((cause: Error) => {
      signal?.throwIfAborted()
      throw unreachable(`No gateway answers at ${address}: ${cause.message}`, cause)
    })
    return readAnswer(answer, address)
  }
}

/**
 * A proxy may answer in the place of the gateway. Its refusals count as what they say; a success that is not
 * the gateway's own would lose what was posted.
 */
function readAnswer({ status, headers, json }: VendorAnswer, address: string): Posted {
  const { ok, outcome, code, error }: Readonly<Record<string, unknown>> = asRecord(json) ?? {}
  const isOurs = typeof ok === 'boolean' && ok === (status >= 200 && status < 300)
  const isUnderstood = isOurs || status >= 500 || [401, 403, 404, 408, 413, 429].includes(status)
  if (!isUnderstood) throw unreachable(`What answers at ${address} with ${status} is no gateway.`)
  const retryAfter = readRetryAfter(headers.get('retry-after'), Date.now())
  return {
    status,
    ...(isOurs && outcome === 'ignored' && { isIgnored: true }),
    ...(typeof code === 'string' && { code }),
    ...(typeof error === 'string' && { message: error }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

function unreachable(message: string, cause?: unknown): PluginError {
  return new PluginError(message, { code: 'network', retryable: true, cause })
}
