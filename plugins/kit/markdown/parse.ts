/** Parses Markdown (CommonMark with GitHub's tables, task lists, strikes and bare links) into a tree. */

import type { Token, Tokens } from 'marked'
import { withoutControls } from './entities.ts'
import { toInlines } from './inlines.ts'
import { lexBlocks } from './lexer.ts'
import { type Block, type Inline, type ListItem, readInlines } from './tree.ts'

/** Runs of invisible characters, which would fill messages and show no more than one of them. */
const invisibleRuns = /([\u00ad\u200b\u2060])[\u00ad\u200b\u2060]+/g
/** The characters that are visible. */
export const visible = /[^\s\p{Cf}\u115f\u1160\u2800\u3164\uffa0]/u

/**
 * Returns the tree of a reply. It never throws, and takes time in proportion to the length of the text. The tree holds every
 * character that a person would read: raw HTML is text (except `<br>` and the closed tags `<b>`, `<i>`, `<s>`, `<code>` and
 * `<a href>`), an unterminated mark is its characters, footnotes are text, and images their descriptions. Every end of a line
 * is kept. Control characters are removed.
 */
export function parseMarkdown(markdown: string): readonly Block[] {
  const lines = markdown.toWellFormed().replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
  const text = withoutControls(lines).replace(invisibleRuns, '$1')
  return toBlocks(lexBlocks(text))
}

function toBlocks(tokens: readonly Token[]): Block[] {
  return tokens.flatMap(toBlock)
}

function toBlock(token: Token): Block[] {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return []
    case 'heading':
      return filled(toInlines(token.tokens ?? []), (children) => ({
        type: 'heading',
        level: token['depth'],
        children,
      }))
    case 'code':
      return toCode(token as Tokens.Code)
    case 'blockquote': {
      const blocks = toBlocks(token.tokens ?? [])
      return blocks.length === 0 ? [] : [{ type: 'quote', blocks }]
    }
    case 'list':
      return [toList(token as Tokens.List)]
    case 'table':
      return [toTable(token as Tokens.Table)]
    case 'hr':
      return [{ type: 'rule' }]
    case 'html':
      return paragraph(toInlines([{ ...token, type: 'html', raw: token.raw.trim() }]))
    default:
      return paragraph(toInlines(('tokens' in token ? token.tokens : undefined) ?? [token]))
  }
}

function paragraph(children: Inline[]): Block[] {
  return filled(children, () => ({ type: 'paragraph', children }))
}

function filled(children: Inline[], block: (children: Inline[]) => Block): Block[] {
  const isSeen = visible.test(readInlines(children)) || children.some((each) => each.type === 'image')
  return isSeen ? [block(children)] : []
}

function languageOf(info = ''): string {
  return /^[\p{L}\p{N}_+#.-]{1,40}(?=$|[\s,{:])/u.exec(info.trim())?.[0] ?? ''
}

function toCode(token: Tokens.Code): Block[] {
  const text = token.text.endsWith('\n') ? token.text.slice(0, -1) : token.text
  return visible.test(text) ? [{ type: 'code', language: languageOf(token.lang), text }] : []
}

function toList(token: Tokens.List): Block {
  const items = token.items.map((item): ListItem => {
    const blocks = toBlocks(item.tokens)
    return item.task ? { checked: item.checked === true, blocks } : { blocks }
  })
  return { type: 'list', start: typeof token.start === 'number' ? token.start : undefined, items }
}

function toTable(token: Tokens.Table): Block {
  const row = (cells: readonly Tokens.TableCell[]) =>
    cells.map((cell) => withoutBreaks(toInlines(cell.tokens)))
  return {
    type: 'table',
    align: token.align.map((each) => each ?? undefined),
    head: row(token.header),
    rows: token.rows.map(row),
  }
}

function withoutBreaks(inlines: readonly Inline[]): Inline[] {
  return inlines.map((each): Inline => {
    if (each.type === 'break') return { type: 'text', text: ' ' }
    return 'children' in each && readInlines(each.children).includes('\n')
      ? { ...each, children: withoutBreaks(each.children) }
      : each
  })
}
