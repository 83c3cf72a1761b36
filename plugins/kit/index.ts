/** The kit: everything a plugin may import from Reveille, and nothing else. */

export * from './channel.ts'
export * from './plugin.ts'
export * from './plugin-error.ts'
export * from './quoting.ts'
export * from './retry-after.ts'
export * from './runner.ts'
export * from './split.ts'
