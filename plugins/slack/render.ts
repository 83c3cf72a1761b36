/** Renders a reply as the parts that Slack shows, either in Markdown or in Slack's own older markup, mrkdwn. */

import type { Part } from '@reveille/kit'
import {
  createTextRenderer,
  type Dialect,
  type InlineContext,
  markdownDialect,
  plainMarker,
  writeTableAsCode,
} from '@reveille/kit/markdown'

/** U+2060 WORD JOINER is invisible and allows no line break. */
const joiner = '\u2060'

/**
 * Finds mentions: `<!channel>`, `<@U0123>`, `<!subteam^S0123>`, `<!date^…>`, which hides a link, `<#C0123>`, which shows a
 * name, and `@channel`, which some settings accept without brackets and whose end may follow in bold. Other brackets, such
 * as `<!DOCTYPE html>`, are left alone.
 */
const mentions =
  /<(?=!(?:channel|here|everyone|group|subteam\^|date\^)|@[UWB][A-Z0-9]|#[CGD][A-Z0-9])|(?<![\p{L}\p{N}_])@(?=(?:channel|here|everyone|group)(?![\p{L}\p{N}_])|\p{L}*$)/giu

/** Returns a text that reads the same and mentions no one, whichever way Slack decodes it. */
function neutralise(text: string): string {
  return text.replaceAll(mentions, (found) => `${found}${joiner}`)
}

/**
 * Slack's Markdown knows headings, lists, tasks, tables, rules and code languages, and turns images into links. Source:
 * https://docs.slack.dev/reference/block-kit/blocks/markdown-block, 2026.
 */
const markdown = markdownDialect({ neutralise, neutraliseCode: neutralise })

const slackMarkdown: Dialect = {
  ...markdown,
  text: (text, place) => bracketsToEntities(markdown.text(text, place)),
}

/**
 * Writes brackets as entities. Slack reads its own brackets (`<@U0123>`) in Markdown too, and a backslash does not escape
 * them. All other escapes stay.
 */
function bracketsToEntities(escaped: string): string {
  return escaped.replaceAll(/\\([\s\S])|<|&(?=lt;|gt;|amp;)/g, (found, sign: string | undefined) => {
    if (found === '<' || sign === '<') return '&lt;'
    return found === '&' || sign === '&' ? '&amp;' : found
  })
}

/** Slack's older markup, `*bold* _italic_ ~strike~ <url|label>`, which has no escapes. */
const mrkdwn: Dialect = {
  text: (text, place) => withEntities(neutralise(withoutMarks(text, place))),
  strong: (inner, place) => mark(inner, '*', place),
  emphasis: (inner, place) => mark(inner, '_', place),
  strike: (inner, place) => mark(inner, '~', place),
  code: (text, place) =>
    /[`\n]/.test(text) || text.trim() === ''
      ? mrkdwn.text(text, place)
      : mark(withEntities(neutralise(text)), '`', place),
  link,
  image: (description, address, place) =>
    link(withEntities(neutralise(description)), address, description === address, place),
  lineBreak: '\n',
  heading: (inner) => mark(inner, '*', alone),
  // Slack would show a language as the first line of the code.
  codeBlock: (text) => `\`\`\`\n${withEntities(neutralise(withoutFences(text)))}\n\`\`\``,
  quote: (inner) =>
    outsideCode(inner, (text) => text.replace(/^(?=.)/gm, '> ').replaceAll(/\n\n(?=> )/g, '\n>\n')),
  item(inner, marker) {
    const indented = outsideCode(inner, (text) => text.replaceAll(/\n(?=.)/g, '\n    '))
    return `${plainMarker(marker)}${indented.startsWith('```') ? '\n' : ' '}${indented}`
  },
  table: (table) => writeTableAsCode(mrkdwn, table),
  rule: '———',
}

const alone: InlineContext = { before: '', after: '', isInLink: false }

const word = /^[\p{L}\p{N}]/u
/** U+200B ZERO WIDTH SPACE ends a word, so that a mark works in the middle of one. */
const edge = '\u200b'

/** Marks each line by itself, since a mark ends with its line. A mark cannot hold its own sign, and a link's label has none. */
function mark(inner: string, sign: string, { before, after, isInLink }: InlineContext): string {
  if (isInLink || inner.includes(sign)) return inner
  const marked = inner.replaceAll(/\S(?:.*\S)?/g, (line) => `${sign}${line}${sign}`)
  return `${isEdge(before) ? '' : edge}${marked}${isEdge(after) ? '' : edge}`
}

/** True if a mark may begin or end beside this character. A sign in the text beside it has a joiner around it. */
function isEdge(beside: string): boolean {
  return !word.test(beside) && !/[*_~`\u2060]/.test(beside)
}

/** Writes a link. Of a link without a label Slack shows everything between the brackets, `mailto:` included. */
function link(inner: string, address: string, isBare: boolean, _place: InlineContext): string {
  const target = withEntities(address.replaceAll(/[|<>\s]/g, encodeURIComponent))
  const label = inner.replaceAll(/\s+/g, ' ').trim()
  return label === '' || (isBare && /^https?:/i.test(address)) ? `<${target}>` : `<${target}|${label}>`
}

/** Neutralises signs that Slack would read as marks. Between spaces, inside a word and in `~/notes` a sign is never a mark. */
function withoutMarks(text: string, { before, after }: InlineContext): string {
  const hasPaths = !/~(?!\/)/.test(text)
  return text.replaceAll(/[*_~`]/g, (sign, at: number) => {
    const previous = text[at - 1] ?? before
    const next = text[at + 1] ?? after
    if (sign === '~' && hasPaths) return sign
    // Code may begin and end with a space.
    const opens = !word.test(previous) && (sign === '`' || !isGap(next))
    // The joiner before a sign would let the sign end a mark that it could not end without it.
    const closes = !word.test(next) && (opens || sign === '`' || !isGap(previous))
    return `${opens ? joiner : ''}${sign}${closes ? joiner : ''}`
  })
}

function isGap(sign: string): boolean {
  return sign === '' || /\s/.test(sign)
}

/** Changes the text around code blocks. Code in a list or quote is neither indented nor marked, because Slack would show that. */
function outsideCode(inner: string, change: (text: string) => string): string {
  const pieces = inner.split(/^(```\n[\s\S]*?\n```)$/m)
  return pieces.map((piece, index) => (index % 2 === 1 ? piece : change(piece))).join('')
}

function withoutFences(text: string): string {
  return text.replaceAll('```', `\`${joiner}\`${joiner}\``)
}

function withEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

export type Format = 'markdown' | 'mrkdwn'

/**
 * Slack takes 12,000 characters of `markdown_text`, recommends 4,000 of `text` and silently cuts that off at 40,000. It does
 * not define a character; UTF-16 units are never fewer. Of a reply in more than ten parts the last one says where the rest can
 * be read.
 */
export const limits = {
  markdown: { part: 11_000, unit: 'utf16', parts: 10 },
  mrkdwn: { part: 3900, unit: 'utf16', parts: 10 },
} as const

const dialects = { markdown: slackMarkdown, mrkdwn }

/** Returns the function that renders a reply in this format. */
export function rendererOf(format: Format): (markdown: string) => Part[] {
  const render = createTextRenderer(dialects[format], limits[format])
  return (markdown) => render(markdown).map((part) => ({ ...part, format }))
}
