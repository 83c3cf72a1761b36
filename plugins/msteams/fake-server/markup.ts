/** Reads Teams' Markdown as Teams shows it: its subset, and the HTML that it lets through. */

import { type Piece, readMarkdown } from '@reveille/kit/fake-server'

export interface ReadMarkup {
  /** The text that a person reads. */
  readonly text: string
  /** The users named in `<at>` tags that Teams would read. */
  readonly named: readonly string[]
  readonly images: readonly string[]
}

const mention = /^<at\b[^>]*>([\s\S]*?)<\/at>/i
const tag = /^<\/?[a-z][^>]*>/i

export function readMarkup(markup: string): ReadMarkup {
  const named: string[] = []
  const images: string[] = []
  function special(rest: string): Piece | undefined {
    const [whole, name = ''] = mention.exec(rest) ?? []
    if (whole !== undefined) named.push(name)
    if (whole !== undefined) return { whole, text: name }
    const [element] = tag.exec(rest) ?? []
    return element === undefined ? undefined : { whole: element, text: '' }
  }
  const text = readMarkdown(markup, { special, onImage: (address) => void images.push(address) })
  return { text, named, images }
}
