/** What an agent wrote, as messages of a chat surface: parsed once, cut where a person would, written in its dialect. */

export * from './address.ts'
export * from './align-table.ts'
export * from './dialect.ts'
export { escapeText, type MarkdownOptions, markdownDialect } from './markdown-dialect.ts'
export { parseMarkdown } from './parse.ts'
export * from './plain-dialect.ts'
export * from './read-text.ts'
export * from './render-parts.ts'
export * from './tree.ts'
export * from './width.ts'
export { createWriter } from './writer.ts'
