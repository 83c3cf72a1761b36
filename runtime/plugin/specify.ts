/** Owns what a configuration asks for: one specification for each channel and runner that is to run. */

import type { Settings } from '@reveille/engine'
import type { Directory, ProvidedKind } from './directory.ts'
import type { PluginPackage } from './package.ts'
import { PluginSetupError, throwJoined } from './setup-error.ts'

/** What is to be started. Equal specifications give one instance. */
export interface Specification {
  readonly kind: ProvidedKind
  /** The name that configuration uses: a channel's, or a runner's own. */
  readonly name: string
  /** What the plugin calls it: a channel's name, or a runner's kind. */
  readonly id: string
  /** The configuration key to blame: `channels.slack`. */
  readonly key: string
  readonly package: PluginPackage
  /** As configured, not yet checked. */
  readonly given: Readonly<Record<string, unknown>>
}

/** The default runner is always among them. @throws PluginSetupError with all that is missing */
export function specify(
  settings: Pick<Settings, 'agents' | 'channels'>,
  directory: Directory,
): Specification[] {
  const asked: Omit<Specification, 'package'>[] = Object.entries(settings.channels).map(([name, given]) => ({
    kind: 'channel',
    name,
    id: name,
    key: `channels.${name}`,
    given,
  }))
  const { runners, defaults } = settings.agents
  for (const [name, { kind, ...given }] of Object.entries(runners)) {
    const id = typeof kind === 'string' ? kind : name
    asked.push({ kind: 'runner', name, id, key: `agents.runners.${name}`, given })
  }
  if (!Object.hasOwn(runners, defaults.runner))
    asked.push(unconfiguredRunner(defaults.runner, 'agents.defaults.runner'))

  const found: Specification[] = []
  const errors: unknown[] = []
  for (const each of asked) {
    try {
      found.push(locate(each, directory))
    } catch (error) {
      errors.push(error)
    }
  }
  throwJoined(errors)
  return found
}

export function unconfiguredRunner(name: string, key: string): Omit<Specification, 'package'> {
  return { kind: 'runner', name, id: name, key, given: {} }
}

/** @throws PluginSetupError */
export function locate(asked: Omit<Specification, 'package'>, directory: Directory): Specification {
  const found = directory.find(asked.kind, asked.id, asked.key)
  if (found !== undefined) return { ...asked, package: found }
  const known = asked.kind === 'channel' ? directory.channels : directory.runners
  const problem = {
    key: asked.key,
    message: `names ${asked.id}, and there is no such ${asked.kind}`,
    hint: `known: ${known.join(', ')}`,
  }
  throw new PluginSetupError('PLUGIN_MISSING', asked.id, [problem])
}
