/** Owns how a reply becomes the parts that Slack shows: as Markdown, or in Slack's own older markup. */

import type { Part } from '@reveille/kit'
import { type Block, renderParts } from '@reveille/kit/markdown'
import type { SlackConfig } from './configuration.ts'

type Format = SlackConfig['format']

/**
 * Slack takes 12,000 characters of `markdown_text`, and advises 4,000 of `text`, which it cuts off at 40,000 without a
 * word. It does not say what a character is; UTF-16 units are never fewer.
 */
const limits: Readonly<Record<Format, number>> = { markdown: 11_000, mrkdwn: 3900 }

export function limitOf(format: Format): number {
  return limits[format]
}

export function renderReply(markdown: string, format: Format): Part[] {
  return renderParts<Part>(markdown, {
    limit: limits[format],
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: textOf(blocks), format }),
  })
}

function textOf(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.type === 'paragraph' ? block.children : []))
    .map((inline) => (inline.type === 'text' ? inline.text : ''))
    .join('')
}
