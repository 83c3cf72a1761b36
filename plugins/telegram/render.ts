/** Owns the way from an agent's Markdown to parts, in each of the three formats. */

import type { Part } from '@reveille/kit'
import { type Block, createWriter, markdownDialect, plainDialect, renderParts } from '@reveille/kit/markdown'
import type { Format } from './configuration.ts'
import { htmlDialect, visibleOf } from './dialect.ts'
import { makeInert } from './inert.ts'

export interface MessagePart extends Part {
  /** What a person reads. */
  readonly text: string
  /** The same as HTML; absent where the text goes as it is. */
  readonly html?: string
}

/**
 * Telegram counts 4096 characters of what is left of HTML after parsing; UTF-16 units are never fewer. Of the HTML itself
 * the documentation gives no limit, so that is kept within 4096 too.
 */
const limits: Readonly<Record<Format, number>> = { html: 4000, plain: 4000, rich: 32_000 }
/** UTF-16 units by which HTML may be longer than `limits.html`. */
const markupAllowance = 96

/** Of a message Telegram keeps so many entities, and drops the rest without a word: links would lose their addresses. */
const mostEntities = 100

/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

/** UTF-16 units of a part. */
export function limitOf(format: Format): number {
  return limits[format]
}

const writeHtml = createWriter(htmlDialect)
const writePlain = createWriter({ ...plainDialect, text: makeInert, code: makeInert, codeBlock: makeInert })
const writeMarkdown = createWriter(markdownDialect({ neutralise: makeInert }))

/** Pure. */
export function rendererOf(format: Format): (markdown: string) => MessagePart[] {
  switch (format) {
    case 'html':
      return renderHtml
    case 'plain':
      return (markdown) => renderText(markdown, writePlain, limits.plain)
    case 'rich':
      return (markdown) => renderText(markdown, writeMarkdown, limits.rich)
  }
}

export function renderHtml(markdown: string): MessagePart[] {
  return renderParts(markdown, {
    write(blocks: readonly Block[]) {
      const html = writeHtml(blocks)
      return { text: visibleOf(html), html }
    },
    measure: ({ text, html }) => Math.max(text.length, html.length - markupAllowance, shareOfEntities(html)),
    limit: limits.html,
  })
}

/** As much of the limit as its entities are of those that a message may have. */
function shareOfEntities(html: string): number {
  const tags = html.match(/<(?!\/|code class)/g)?.length ?? 0
  return Math.ceil((tags * limits.html) / mostEntities)
}

function renderText(markdown: string, write: (blocks: readonly Block[]) => string, limit: number) {
  return renderParts(markdown, {
    write: (blocks) => ({ text: write(blocks) }),
    measure: ({ text }) => text.length,
    limit,
  })
}
