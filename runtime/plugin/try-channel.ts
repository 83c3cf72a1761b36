/** Owns a look at a channel that is not configured yet: set up, asked whether it would work, and closed. */

import type { Settings } from '@reveille/engine'
import type { Channel, ChannelHealth } from '@reveille/kit'
import { pino } from 'pino'
import { configureAll } from './configuration.ts'
import { asFileUrl, createDirectory, type PluginPlaces } from './directory.ts'
import { redactHealth } from './handle.ts'
import { startInstance } from './instance.ts'
import { locate } from './specify.ts'

export interface TryOptions {
  readonly fetch: typeof fetch
  /** How long the look may take. Milliseconds; default 15,000. */
  readonly timeoutMs?: number
  readonly resolveFrom?: string | URL
}

/** Longer than any close takes that has sent nothing. Milliseconds. */
const closeTimeoutMs = 2000

/**
 * Sends nothing. Undefined where the channel cannot tell. What goes wrong on the way to the service is an answer too.
 * @throws PluginSetupError for a configuration with which a gateway would not start
 */
export async function tryChannel(
  name: string,
  config: Readonly<Record<string, unknown>>,
  settings: Pick<Settings, 'agents'> & PluginPlaces,
  { fetch, timeoutMs = 15_000, resolveFrom = import.meta.url }: TryOptions,
): Promise<ChannelHealth | undefined> {
  const directory = createDirectory(settings, asFileUrl(resolveFrom))
  const asked = { kind: 'channel', name, id: name, key: `channels.${name}`, given: config } as const
  const [ready] = configureAll([locate(asked, directory, settings.agents)])
  if (ready === undefined) return undefined
  const instance = await startInstance(...ready, {
    log: pino({ level: 'silent' }),
    fetch,
    setupTimeoutMs: timeoutMs,
    closeTimeoutMs,
    closing: new AbortController().signal,
  })
  try {
    const health = await (instance.provided as Channel).check?.(AbortSignal.timeout(timeoutMs))
    return health && redactHealth(health, instance.redact)
  } catch (error) {
    return redactHealth({ ok: false, detail: (error as Error).message }, instance.redact)
  } finally {
    await instance.close()
  }
}
