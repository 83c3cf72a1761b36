/** The fake servers that channels are tested against. */

export * from './markdown.ts'
export * from './server.ts'
export * from './turn.ts'
export * from './vendor.ts'
