/**
 * Owns Mattermost's Markdown where it is not everybody's: who is called, which backslashes are obeyed, and which addresses
 * the server fetches.
 *
 * Sources: github.com/mattermost/mattermost (`server/public/shared/markdown`, `server/channels/app/mention_parser_standard.go`
 * and `post_metadata.go`, `webapp/channels/src/utils/markdown`) and github.com/mattermost/marked, which the web client reads with.
 */

import { type Dialect, markdownDialect } from '@reveille/kit/markdown'

/** U+2060 WORD JOINER: nobody sees it, and it is in no name, word or address that Mattermost looks for. */
const joiner = '\u2060'

/**
 * With `linkPreviews` an address that says itself stands bare. Only such addresses are fetched by the server, so that
 * without it every link is written with a label.
 */
export function mattermostDialect(linkPreviews: boolean): Dialect {
  const markdown = markdownDialect({ neutralise: silence })

  const dialect: Dialect = {
    ...markdown,
    text(text, place) {
      const isLoose = !linkPreviews && !place.isInLink
      return obeyed(markdown.text(isLoose ? unlink(text) : text, place))
    },
    paragraph: (inner) => unknownAtLineStart(markdown.paragraph?.(inner) ?? inner),
    // The first sign that could end a mark does, be it in code.
    takesMarks(inner, mark, place) {
      const code = inner.match(/(`+)[^`][\s\S]*?\1(?!`)/g)?.join('') ?? ''
      const ends = { strong: /\*\*|__/, emphasis: /[*_]/, strike: /~~/ }
      return !ends[mark].test(code) && (markdown.takesMarks?.(inner, mark, place) ?? true)
    },
    strong: (inner, place) => markdown.strong(unescaped(inner), place),
    // It takes an underscore for a mark only beside a space or a sign of ASCII, an asterisk everywhere.
    emphasis(inner, place) {
      const isBeside = /^[^\s!-/:-@[-`{-~]/.test(place.after) && /^[^\s*"<]/.test(inner)
      return isBeside ? `*${unescaped(inner)}*` : markdown.emphasis(unescaped(inner), place)
    },
    strike: (inner, place) => markdown.strike(unescaped(inner), place),
    // It drops them from the end, with a backslash or without.
    heading: (inner, level) =>
      markdown.heading(
        inner.replace(/#+$/, (signs) => '&#35;'.repeat(signs.length)),
        level,
      ),
    link: (inner, address, isBare, place) =>
      markdown.link(inner, withoutBrackets(address), isBare && linkPreviews, place),
    image: (description, address, place) =>
      dialect.link(
        dialect.text(description === '' ? 'image' : description, { ...place, isInLink: true }),
        address,
        false,
        place,
      ),
  }
  return dialect
}

/**
 * Nobody is called: not by name, not as `@channel`, `@all` or `@here`. After a letter or digit of ASCII the sign is none of a
 * call (it may be an e-mail address); after all else it may be, dots and dashes included.
 */
function silence(text: string): string {
  return text.replaceAll(/(?<![A-Za-z0-9])@(?=[\p{L}\p{N}.:_@-]|$)/gu, `@${joiner}`)
}

/** What looks like an address and is no link of the reply's shall not become one, since it would be fetched. */
function unlink(text: string): string {
  return text
    .replaceAll(/(?<=https?):(?=\/\/)/gi, `:${joiner}`)
    .replaceAll(/(?<![a-z0-9])www\d{0,3}(?=\.)/gi, `$&${joiner}`)
}

/**
 * The web client shows a backslash before the first two, and takes a bracket for one of a label's whether it is escaped or
 * not. These references are read everywhere.
 */
const references: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '&': '&amp;',
  '[': '&#91;',
  ']': '&#93;',
  ':': '&#58;',
}

/** Besides, whatever begins right after a bracket may be an address there, and an underscore after a letter that is none of ASCII's is a mark there, and in nobody else's Markdown. */
function obeyed(markup: string): string {
  return markup.replaceAll(/\\([\s\S])|(?<=\P{ASCII})_|<(?!\s)/gu, (whole, sign: string = whole) => {
    return references[sign] ?? (sign === '_' ? '\\_' : whole)
  })
}

/** Between marks the web client looks for the closing one alone, and takes one with a backslash for it. */
function unescaped(inner: string): string {
  return inner.replaceAll(/\\([\s\S])|(`+)[^`][\s\S]*?\2(?!`)/g, (whole, sign?: string) => {
    return sign !== undefined && '*_~'.includes(sign) ? `&#${sign.charCodeAt(0)};` : whole
  })
}

/** It takes a bracket of an address for one of the label. Those of a host stay, since nothing else can be written there. */
function withoutBrackets(address: string): string {
  return address.replaceAll(/^\w+:\/\/\[[^\]]*\]|[[\]]/g, (whole) => {
    if (whole.length > 1) return whole
    return whole === '[' ? '%5B' : '%5D'
  })
}

function unknownAtLineStart(markup: string): string {
  return markup.replaceAll(/^(\s*)\\([=:])/gm, (_, indent: string, sign: string) => {
    return `${indent}&#${sign.charCodeAt(0)};`
  })
}
