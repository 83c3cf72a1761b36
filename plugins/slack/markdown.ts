/** Owns the Markdown that Slack takes as `markdown_text`. */

import { type Dialect, markdownDialect } from '@reveille/kit/markdown'
import { withoutCalls } from './calls.ts'

/**
 * Of its description (https://docs.slack.dev/reference/block-kit/blocks/markdown-block, 2026): headings, lists, tasks, tables,
 * rules and languages of code are known, images become links.
 */
const markdown = markdownDialect({ neutralise: withoutCalls, neutraliseCode: withoutCalls })

export const slackMarkdown: Dialect = {
  ...markdown,
  text: (text, place) => withEntities(markdown.text(text, place)),
  image: (description, address, place) => withEntities(markdown.image(description, address, place)),
}

/**
 * Slack's brackets (`<@U0123>`) count in its Markdown too, and a backslash is not among the ways to escape them: an entity
 * is. What was escaped otherwise stays so.
 */
function withEntities(escaped: string): string {
  return escaped.replaceAll(/\\([\s\S])|<|&(?=lt;|gt;|amp;)/g, (found, sign: string | undefined) => {
    if (found === '<' || sign === '<') return '&lt;'
    return found === '&' || sign === '&' ? '&amp;' : found
  })
}
