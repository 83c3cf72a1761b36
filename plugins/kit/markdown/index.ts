/** Renders an agent's Markdown as messages of a chat surface: it is parsed once, cut on the tree, and written in a dialect. */

export { widthOf } from '../width.ts'
export * from './address.ts'
export * from './align-table.ts'
export * from './dialect.ts'
export { escapeText, type MarkdownOptions, markdownDialect } from './markdown-dialect.ts'
export { parseMarkdown } from './parse.ts'
export * from './plain-dialect.ts'
export * from './render-parts.ts'
export * from './tree.ts'
export { createInlineWriter, createWriter } from './writer.ts'
