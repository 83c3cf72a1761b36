/** What an agent wrote, as messages of a chat surface: parsed once, cut where a person would, written in its dialect. */

export * from './dialect.ts'
export * from './render-parts.ts'
export * from './tree.ts'
