/** Owns the import of a plugin's code, and the words for what that code refuses. */

import type { Plugin, Redact } from '@reveille/kit'
import { keyOf } from './configuration.ts'
import type { PluginPackage } from './package.ts'
import type { PluginProblem } from './setup-error.ts'
import type { Specification } from './specify.ts'

/** Runs none of its functions. @throws whatever the import throws */
export async function loadPlugin(from: PluginPackage): Promise<Plugin> {
  const module: { readonly default?: Plugin } = await import(from.entry.href)
  if (typeof module.default?.setup === 'function') return module.default
  throw new Error('The module has no default export made by definePlugin.')
}

/** Follows the key in a sentence. */
export const importWords = 'needs a plugin that cannot be imported'

/** An error that begins with a key in backticks is about what stands under that key. */
export function setupProblem(error: unknown, wanted: Specification, redact: Redact): PluginProblem {
  if (!(error instanceof Error)) return { key: wanted.key, message: 'cannot be set up' }
  const path = /^`([\w.-]+)`/.exec(error.message)?.[1]?.split('.') ?? []
  const isGiven = path[0] !== undefined && Object.hasOwn(wanted.given, path[0])
  return {
    key: isGiven ? keyOf(path, wanted) : wanted.key,
    message: `cannot be set up: ${redact(error.message).replace(/\.$/, '')}`,
  }
}
