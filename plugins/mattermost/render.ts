/**
 * Renders a reply in Mattermost's Markdown, which differs in its mentions, in the backslashes that it accepts, and in the
 * addresses that the server fetches.
 *
 * Sources: github.com/mattermost/mattermost (`server/public/shared/markdown`, `server/channels/app/mention_parser_standard.go`
 * and `post_metadata.go`, `webapp/channels/src/utils/markdown`) and github.com/mattermost/marked, which the web client reads with.
 */

import type { Part } from '@reveille/kit'
import {
  alignTable,
  type Block,
  createTextRenderer,
  type Dialect,
  markdownDialect,
  readInlines,
  tableRecords,
} from '@reveille/kit/markdown'

/**
 * Rearranges what Mattermost's web client cannot read although it is Markdown: tables in lists, and lists that directly
 * follow lists.
 */
function arrange(blocks: readonly Block[], isInList: boolean): Block[] {
  return blocks.flatMap((block, index): Block[] => {
    const apart = block.type === 'list' && blocks[index - 1]?.type === 'list' ? [invisibleLine] : []
    return [...apart, ...arrangeOne(block, isInList)]
  })
}

/** An invisible line (U+2060). Without it the second of two lists would continue the numbers of the first. */
const invisibleLine: Block = { type: 'paragraph', children: [{ type: 'text', text: '\u2060' }] }

function arrangeOne(block: Block, isInList: boolean): Block[] {
  switch (block.type) {
    case 'quote':
      return [{ ...block, blocks: arrange(block.blocks, isInList) }]
    case 'list': {
      const items = block.items.map((item) => ({ ...item, blocks: arrange(item.blocks, true) }))
      return [{ ...block, items }]
    }
    case 'table': {
      if (!isInList) return [block]
      const text = alignTable(block, readInlines)
      return text === undefined ? [...tableRecords(block)] : [{ type: 'code', language: '', text }]
    }
    default:
      return [block]
  }
}

/** U+2060 WORD JOINER is invisible and is part of no name, word or address that Mattermost looks for. */
const joiner = '\u2060'

/**
 * With `linkPreviews` an address that is its own label is shown bare. The server fetches only such addresses, so without
 * previews every link is written with a label.
 */
function mattermostDialect(linkPreviews: boolean): Dialect {
  const markdown = markdownDialect({ neutralise })

  return {
    ...markdown,
    text(text, place) {
      const isLoose = !linkPreviews && !place.isInLink
      return withObeyedEscapes(markdown.text(isLoose ? unlink(text) : text, place))
    },
    paragraph: (inner) => lineStartsAsReferences(markdown.paragraph?.(inner) ?? inner),
    // The first sign that could end a mark ends it, even inside code.
    canMark(inner, mark, place) {
      const code = inner.match(/(`+)[^`][\s\S]*?\1(?!`)/g)?.join('') ?? ''
      const ends = { strong: /\*\*|__/, emphasis: /[*_]/, strike: /~~/ }
      return !ends[mark].test(code) && (markdown.canMark?.(inner, mark, place) ?? true)
    },
    strong: (inner, place) => markdown.strong(escapesAsReferences(inner), place),
    // The web client reads an underscore as a mark only beside a space or ASCII punctuation, an asterisk everywhere.
    emphasis(inner, place) {
      const isBeside = /^[^\s!-/:-@[-`{-~]/.test(place.after) && /^[^\s*"<]/.test(inner)
      return isBeside
        ? `*${escapesAsReferences(inner)}*`
        : markdown.emphasis(escapesAsReferences(inner), place)
    },
    strike: (inner, place) => markdown.strike(escapesAsReferences(inner), place),
    // The web client drops `#` signs at the end, even with a backslash.
    heading: (inner, level) =>
      markdown.heading(
        inner.replace(/#+$/, (signs) => '&#35;'.repeat(signs.length)),
        level,
      ),
    link: (inner, address, isBare, place) =>
      markdown.link(inner, withoutBrackets(address), isBare && linkPreviews, place),
  }
}

/**
 * Neutralises mentions of users and of `@channel`, `@all` and `@here`. After an ASCII letter or digit the sign is no mention
 * (it may be in an e-mail address); after anything else, dots and dashes included, it may be one.
 */
function neutralise(text: string): string {
  return text.replaceAll(/(?<![A-Za-z0-9])@(?=[\p{L}\p{N}.:_@-]|$)/gu, `@${joiner}`)
}

/** Keeps text that looks like an address from becoming a link, since the server would fetch it. */
function unlink(text: string): string {
  return text
    .replaceAll(/(?<=https?):(?=\/\/)/gi, `:${joiner}`)
    .replaceAll(/(?<![a-z0-9])www\d{0,3}(?=\.)/gi, `$&${joiner}`)
}

/**
 * Character references for signs that a backslash does not escape. The web client shows a backslash before `<` and `&`, and
 * reads a bracket as part of a label whether it is escaped or not.
 */
const references: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '&': '&amp;',
  '[': '&#91;',
  ']': '&#93;',
  ':': '&#58;',
}

/**
 * Replaces escapes that the web client ignores by ones that it obeys. It also reads an address right after `<`, and, unlike
 * other readers of Markdown, an underscore after a non-ASCII letter as a mark.
 */
function withObeyedEscapes(markup: string): string {
  return markup.replaceAll(/\\([\s\S])|(?<=\P{ASCII})_|<(?!\s)/gu, (whole, sign: string = whole) => {
    return references[sign] ?? (sign === '_' ? '\\_' : whole)
  })
}

/** Writes escaped signs inside marks as references, because the web client takes an escaped sign for the closing mark. */
function escapesAsReferences(inner: string): string {
  return inner.replaceAll(/\\([\s\S])|(`+)[^`][\s\S]*?\2(?!`)/g, (whole, sign?: string) => {
    return sign !== undefined && '*_~'.includes(sign) ? `&#${sign.charCodeAt(0)};` : whole
  })
}

/** Encodes brackets in an address, which the web client reads as the label's. Those of an IPv6 host cannot be encoded. */
function withoutBrackets(address: string): string {
  return address.replaceAll(/^\w+:\/\/\[[^\]]*\]|[[\]]/g, (whole) => {
    if (whole.length > 1) return whole
    return whole === '[' ? '%5B' : '%5D'
  })
}

/** Writes an escaped `=` or `:` at the start of a line as a reference. */
function lineStartsAsReferences(markup: string): string {
  return markup.replaceAll(/^(\s*)\\([=:])/gm, (_, indent: string, sign: string) => {
    return `${indent}&#${sign.charCodeAt(0)};`
  })
}

/**
 * No server takes fewer code points (the limit of the oldest database schema), and most take 16,383. Source: the server's
 * `model.PostMessageMaxRunesV1` and `V2`. Of a reply in more than ten parts the last one says where the rest can be read.
 */
export const limits = { part: 4000, unit: 'characters', parts: 10 } as const

/** Returns the function that renders a reply as posts in order; none for blank text. */
export function rendererOf(linkPreviews: boolean): (markdown: string) => Part[] {
  return createTextRenderer(mattermostDialect(linkPreviews), limits, (blocks) => arrange(blocks, false))
}
