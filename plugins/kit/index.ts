/** The kit: everything a plugin may import from Reveille, and nothing else. */

export * from './channel.ts'
export * from './measure.ts'
export * from './plugin.ts'
export * from './plugin-error.ts'
export * from './plugin-fetch.ts'
export * from './quoting.ts'
export * from './retry-after.ts'
export * from './runner.ts'
export * from './split.ts'
export * from './vendor-call.ts'
