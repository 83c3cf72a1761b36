/** Owns how a reply becomes the parts that Slack shows: as Markdown, or in Slack's own older markup. */

import type { Part } from '@reveille/kit'
import { createWriter, renderParts } from '@reveille/kit/markdown'
import type { SlackConfig } from './configuration.ts'
import { slackMarkdown } from './markdown.ts'
import { mrkdwn } from './mrkdwn.ts'

type Format = SlackConfig['format']

/**
 * Slack takes 12,000 characters of `markdown_text`, and advises 4,000 of `text`, which it cuts off at 40,000 without a
 * word. It does not say what a character is; UTF-16 units are never fewer.
 */
const limits: Readonly<Record<Format, number>> = { markdown: 11_000, mrkdwn: 3900 }

/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

const writers = { markdown: createWriter(slackMarkdown), mrkdwn: createWriter(mrkdwn) }

/** UTF-16 units. */
export function limitOf(format: Format): number {
  return limits[format]
}

export function renderReply(markdown: string, format: Format): Part[] {
  const write = writers[format]
  return renderParts<Part>(markdown, {
    limit: limits[format],
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: write(blocks), format }),
  })
}
