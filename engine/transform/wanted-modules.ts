/** Lists the modules that a configuration's mappings name, and makes diagnostics of those that cannot be loaded. */

import type { Configuration } from '../config/configuration.ts'
import type { Diagnostic, Place } from '../config/file/diagnostic.ts'
import type { LoadFailure, WantedModule } from './port.ts'

/** Lists each module once, in the order of the first mapping that names it. */
export function wantedModules({ mappings, settings }: Configuration): readonly WantedModule[] {
  const { defaults, modules } = settings.hooks.transforms
  const byName = new Map<string, { exports: Set<string>; place: Place }>()
  for (const { value, locate } of mappings) {
    if (value.transform === undefined) continue
    const { module, export: exportName = 'default' } = value.transform
    const entry = byName.get(module)
    if (entry) entry.exports.add(exportName)
    else byName.set(module, { exports: new Set([exportName]), place: locate(['transform', 'module']) })
  }
  return [...byName].map(([module, { exports, place }]) => ({
    module,
    exports: [...exports],
    place,
    limits: { ...defaults, ...modules[module] },
  }))
}

export function describeFailure({ exportName, message, place, hint }: LoadFailure): Diagnostic {
  return {
    severity: 'error',
    code: exportName === undefined ? 'TRANSFORM_NOT_LOADED' : 'TRANSFORM_EXPORT_MISSING',
    message,
    place,
    ...(hint !== undefined && { hint }),
  }
}
