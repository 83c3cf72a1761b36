/** `reveille webhooks NAME run`: runs a source in this process, and posts its events to a gateway. */

import { keyOfSource, type Settings } from '@reveille/engine'
import { postLimitsOf } from '../../http/index.ts'
import { createLog } from '../../observe/log.ts'
import { PluginSetupError, type StartedSource, startSource } from '../../plugin/index.ts'
import { createSourceClock, createSources, type SourceState, sourcesFolder } from '../../sources/index.ts'
import { withSnapshot } from '../authoring/compile.ts'
import { connectionTo, namedAddress } from '../client.ts'
import { CommandFailure } from '../command-failure.ts'
import { findConfiguration, shownPath } from '../configuration.ts'
import { type CommandOptions, type Io, wrapText } from '../io.ts'
import { pasted } from '../pasted.ts'
import { createStopSignal } from '../signals.ts'
import { createPost, type Target } from './post-over-http.ts'
import type { Connected } from './task.ts'

/** @returns 0 once it was stopped; 1 where another process runs the source, or it is not configured */
export async function runSource({ name }: Connected, options: CommandOptions, io: Io): Promise<number> {
  const { json = false } = options
  const file = findConfiguration(options, io)
  const snapshot = await withSnapshot({ config: file }, io, async (made) => made)
  const { settings } = snapshot
  if (settings.gateway.store !== 'sqlite') {
    throw new CommandFailure(
      2,
      'With `gateway.store` on a server one node of the cluster runs the source; nothing else may.',
    )
  }
  if (settings.sources[name] === undefined) {
    const setUp = pasted(`webhooks ${name} setup`, io)
    throw new CommandFailure(1, `${shownPath(file, io)} has no ${keyOfSource(name)}. Set it up: ${setUp}`)
  }
  const target = await targetOf(options, settings, io)
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
    onUnreceived: () =>
      ended.resolve(
        new CommandFailure(
          2,
          `As ${keyOfSource(name)} is configured, the service posts to the gateway itself: start that, or have the source fetch.`,
        ),
      ),
    clock: createSourceClock(io.now),
    post: createPost(target, io.fetch),
    limitsOf: (endpoint) => postLimitsOf(snapshot, endpoint),
    onState: report,
  })
  // Where there is no terminal, the log says it.
  if (!json && io.columns !== undefined)
    io.err(`${wrapText(`What ${name} fetches goes to ${target.address}${target.path} until Ctrl-C.`, io)}\n`)
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
      throw new CommandFailure(1, error.message, { cause: error })
    }
  }

  function report(state: SourceState): void {
    if (json) io.out(`${JSON.stringify({ time: io.now(), ...state })}\n`)
    if (state.state !== 'held-elsewhere') return
    const folder = shownPath(settings.gateway.dataDir, io)
    ended.resolve(
      new CommandFailure(
        1,
        `Another process runs ${name} already, on the data folder ${folder}: the gateway, or a second run of this.`,
      ),
    )
  }
}

/** The gateway of `--config`, else of REVEILLE_URL, else of the configuration that was found. @throws CommandFailure */
async function targetOf(options: { readonly config?: string }, settings: Settings, io: Io): Promise<Target> {
  const { hooks, file } = settings
  const address = namedAddress(options, io)
  if (address !== undefined) {
    const token = io.env['REVEILLE_HOOK_TOKEN']
    if (!token)
      throw new CommandFailure(2, `REVEILLE_HOOK_TOKEN is not set; ${address} accepts nothing without it.`)
    return { address, path: hooks.path, token }
  }
  const [token] = hooks.tokens
  if (!hooks.enabled || token === undefined) {
    const missing = hooks.enabled ? 'hooks.token' : 'hooks.enabled: true'
    throw new CommandFailure(1, `${missing} is missing in ${file}: its gateway accepts nothing without it.`)
  }
  const { address: running } = await connectionTo(settings, io)
  return { address: running, path: hooks.path, token }
}
