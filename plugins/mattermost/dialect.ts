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
      return obeyed(markdown.text(isLoose ? unlink(text) : text, place), place.isInLink)
    },
    paragraph: (inner) => unknownAtLineStart(markdown.paragraph?.(inner) ?? inner),
    link: (inner, address, isBare, place) => markdown.link(inner, address, isBare && linkPreviews, place),
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
    .replaceAll(/\bwww\d{0,3}(?=\.)/gi, `$&${joiner}`)
}

/** The web client shows a backslash before these; the references are read everywhere. */
const references: Readonly<Record<string, string>> = { '<': '&lt;', '&': '&amp;' }
/** Brackets in a label have to come in pairs, escaped or not. */
const labelReferences: Readonly<Record<string, string>> = { ...references, '[': '&#91;', ']': '&#93;' }

function obeyed(markup: string, isInLink: boolean): string {
  const written = isInLink ? labelReferences : references
  return markup.replaceAll(/\\([\s\S])/g, (whole, sign: string) => written[sign] ?? whole)
}

function unknownAtLineStart(markup: string): string {
  return markup.replaceAll(/^(\s*)\\([=:])/gm, (_, indent: string, sign: string) => {
    return `${indent}&#${sign.charCodeAt(0)};`
  })
}
