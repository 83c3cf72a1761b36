/** Owns that a plugin finds the kit wherever its folder lies: without one of its own it is given the host's. */

import { registerHooks } from 'node:module'

let isGiven = false

/** From the first plugin on; what else is imported is found as ever. */
export function giveKit(): void {
  if (isGiven) return
  isGiven = true
  registerHooks({
    resolve(specifier, context, next) {
      if (!/^@reveille\/kit(?:\/|$)/.test(specifier)) return next(specifier, context)
      try {
        return next(specifier, context)
      } catch {
        return next(specifier, { ...context, parentURL: import.meta.url })
      }
    },
  })
}
