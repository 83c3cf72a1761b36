/** Finds the package that provides a channel, a runner, a source, a provider or an observer by its name. */

import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Settings } from '@reveille/engine'
import { byKind, kinds, type PluginPackage, type ProvidedKind, readPluginPackage } from './package.ts'
import { PluginSetupError } from './setup-error.ts'

/** The names that need no `plugins:` entry. The packages behind them are not installed everywhere. */
export const builtIn = {
  channel: [
    'whatsapp',
    'telegram',
    'discord',
    'slack',
    'mattermost',
    'signal',
    'imessage',
    'msteams',
    'http',
    'terminal',
  ],
  runner: ['echo', 'ai', 'command', 'openclaw'],
  source: ['gmail'],
  provider: ['github', 'stripe'],
  observer: ['otel'],
} as const

function packageOf(name: string): string {
  return `@reveille/plugin-${name}`
}

export interface Directory {
  /** Every name that exists, installed or not: the error for a missing package says more than "unknown". Of runners, those that are installed. */
  readonly names: Readonly<Record<ProvidedKind, readonly string[]>>
  /** Returns undefined for a name that no package provides. `key` is the configuration key to blame. @throws PluginSetupError */
  find(kind: ProvidedKind, name: string, key: string): PluginPackage | undefined
}

/** Where packages are: those that `plugins:` names, and the configuration file, beside which they are installed. */
export type PluginSettings = Pick<Settings, 'plugins'> & Partial<Pick<Settings, 'file'>>

/**
 * createDirectory reads the manifests of the packages that `plugins:` names. Such a package wins over a built-in one of the same name.
 * It is looked for from the folder of the configuration first, as an import of a transform is, and then from `from`, the place of
 * Reveille; built-in packages are looked for in the opposite order. @throws PluginSetupError
 */
export function createDirectory({ plugins, file }: PluginSettings, from: URL): Directory {
  const beside = file === undefined ? [] : [pathToFileURL(file)]
  const extras = byKind(() => new Map<string, PluginPackage>())
  for (const [index, specifier] of plugins.entries()) {
    const key = `plugins[${index}]`
    const found = readPluginPackage(specifier, [...beside, from], key)
    for (const kind of kinds) claim(extras[kind], found.provides[kind], found, key)
  }

  /** The built-in packages that were read. */
  const read = new Map<string, PluginPackage>()

  function find(kind: ProvidedKind, name: string, key: string) {
    const extra = extras[kind].get(name)
    if (extra !== undefined || !isBuiltIn(kind, name)) return extra
    const found = read.get(name) ?? readPluginPackage(packageOf(name), [from, ...beside], key)
    read.set(name, found)
    if (found.provides[kind].includes(name)) return found
    const problem = { key, message: `needs a ${kind} that the installed ${found.name} does not provide` }
    throw new PluginSetupError('PLUGIN_MANIFEST', found.name, [problem])
  }

  function isInstalled(name: string): boolean {
    try {
      return find('runner', name, 'agents.runners') !== undefined
    } catch (error) {
      if (error instanceof PluginSetupError && error.code === 'PLUGIN_MISSING') return false
      throw error
    }
  }

  const names = byKind((kind) => {
    const known = kind === 'runner' ? builtIn.runner.filter(isInstalled) : builtIn[kind]
    return [...new Set<string>([...known, ...extras[kind].keys()])]
  })
  return { names, find }
}

function isBuiltIn(kind: ProvidedKind, name: string): boolean {
  const names: readonly string[] = builtIn[kind]
  return names.includes(name)
}

function claim(
  names: Map<string, PluginPackage>,
  claimed: readonly string[],
  by: PluginPackage,
  key: string,
): void {
  for (const name of claimed) {
    const other = names.get(name)
    if (other !== undefined) {
      const problem = { key, message: `provides ${name}, which ${other.name} provides too` }
      throw new PluginSetupError('PLUGIN_MANIFEST', by.name, [problem])
    }
    names.set(name, by)
  }
}

/** The place from which packages are looked for may be a URL or an absolute path. */
export function asFileUrl(place: string | URL): URL {
  return typeof place === 'string' && isAbsolute(place) ? pathToFileURL(place) : new URL(place)
}
