/** Owns the inline half of the parser: marks, links and text out of the lexer's tokens. */

import type { Token } from 'marked'
import { isDeceptive, isSameAddress, safeAddress } from './address.ts'
import { decodeReferences } from './entities.ts'
import { readTag, type Tag } from './html.ts'
import { readInlines } from './read-text.ts'
import type { Inline } from './tree.ts'

/** Neighbouring texts are one, lines are apart by `break`, and there is no white space at either end of a line. */
export function toInlines(tokens: readonly Token[]): Inline[] {
  return trimInlines(trimLines(joinTexts(convert(tokens))))
}

/** Without white space beside the ends of lines. */
function trimLines(inlines: readonly Inline[]): Inline[] {
  if (!inlines.some((each) => each.type === 'break')) return [...inlines]
  return inlines.flatMap((each, index): Inline[] => {
    if (each.type !== 'text') return [each]
    const left = inlines[index - 1]?.type === 'break' ? each.text.replace(/^[ \t]+/, '') : each.text
    const text = inlines[index + 1]?.type === 'break' ? trimEnd(left) : left
    return text === '' ? [] : [{ type: 'text', text }]
  })
}

/** Tags inside each other that become marks; those further in stay text. */
const deepestTags = 12

interface OpenTag {
  readonly tag: Extract<Tag, { kind: 'open' }>
  /** Where its own text stands among what has been converted, to go if the tag is closed. */
  readonly index: number
}

/** Tags that are closed become marks; the others are what they are, text. */
function convert(tokens: readonly Token[]): Inline[] {
  const converted: Inline[] = []
  let open: OpenTag[] = []

  for (const token of tokens) {
    const tag = token.type === 'html' ? readTag(token.raw) : undefined
    if (tag?.kind === 'break') converted.push({ type: 'break' })
    else if (tag?.kind === 'close') {
      const last = open.findLastIndex((each) => each.tag.name === tag.name)
      const opened = open[last]
      if (opened === undefined) append(converted, texts(token.raw))
      else {
        const [, ...children] = converted.splice(opened.index)
        append(converted, mark(opened.tag, children))
        open = open.slice(0, last)
      }
    } else {
      if (tag !== undefined && open.length < deepestTags) open.push({ tag, index: converted.length })
      append(converted, inlinesOf(token))
    }
  }
  return converted
}

function mark(tag: Extract<Tag, { kind: 'open' }>, children: readonly Inline[]): Inline[] {
  if (tag.name === 'link') return link(tag.address ?? '', joinTexts(children))
  if (tag.name === 'code') return [{ type: 'code', text: readInlines(children).replaceAll('\n', ' ') }]
  return [{ type: tag.name, children: joinTexts(children) }]
}

function inlinesOf(token: Token): Inline[] {
  switch (token.type) {
    case 'escape':
      return [{ type: 'text', text: token.text }]
    case 'strong':
      return [{ type: 'strong', children: joinTexts(convert(token.tokens ?? [])) }]
    case 'em':
      return [{ type: 'emphasis', children: joinTexts(convert(token.tokens ?? [])) }]
    case 'del':
      return [{ type: 'strike', children: joinTexts(convert(token.tokens ?? [])) }]
    case 'codespan':
      return token.text === '' ? [] : [{ type: 'code', text: token.text }]
    case 'br':
      return [{ type: 'break' }]
    case 'checkbox':
      return []
    case 'link': {
      if (token['autolink'] === true) {
        const children: Inline[] = [{ type: 'text', text: token.text }]
        return safeAddress(token.href) === undefined ? children : link(token.href, children)
      }
      return link(decodeReferences(token.href), joinTexts(convert(token.tokens ?? [])))
    }
    case 'image':
      return image(decodeReferences(token.href), readInlines(convert(token.tokens ?? [])))
    case 'html':
      return texts(token.raw)
    default:
      return texts(decodeReferences(token.raw))
  }
}

/** What is no address that a link may have stays beside the label, as long as a person can read it. */
function link(given: string, inside: readonly Inline[]): Inline[] {
  const address = safeAddress(given)
  // A picture would be a link in a link, which no surface has: badges lead where their link leads.
  const children = address === undefined ? inside : joinTexts(inside.map(asLabel))
  const label = readInlines(children)
  if (address === undefined) {
    const tells = given !== '' && given !== label && !given.startsWith('#') && !/^data:/i.test(given)
    return tells ? [...children, { type: 'text', text: label === '' ? given : ` (${given})` }] : [...children]
  }
  const shown = address.replace(/^(?:mailto|tel):/i, '')
  const bare: Inline = { type: 'link', address, children: [{ type: 'text', text: shown }] }
  if (label.trim() === '') return [bare]
  if (isSameAddress(label, address) || !isDeceptive(label, address))
    return [{ type: 'link', address, children }]
  return [...children, { type: 'text', text: ' (' }, bare, { type: 'text', text: ')' }]
}

function asLabel(inline: Inline): Inline {
  if (inline.type === 'image') return { type: 'text', text: inline.description || inline.address }
  return 'children' in inline ? { ...inline, children: inline.children.map(asLabel) } : inline
}

function image(given: string, written: string): Inline[] {
  const address = safeAddress(given)
  const description = written.replaceAll('\n', ' ').trim()
  if (address !== undefined) {
    if (!isDeceptive(description, address)) return [{ type: 'image', address, description }]
    return [
      { type: 'text', text: description },
      { type: 'text', text: ' ' },
      { type: 'image', address, description: '' },
    ]
  }
  const shown = /^data:/i.test(given) || given === '' ? description : `${description} (${given})`
  return [{ type: 'text', text: shown.trim() }]
}

function texts(text: string): Inline[] {
  return text
    .split(/[ \t]*\n[ \t]*/)
    .flatMap((line, index): Inline[] => [
      ...(index === 0 ? [] : [{ type: 'break' } as const]),
      ...(line === '' ? [] : [{ type: 'text', text: line } as const]),
    ])
}

function append(target: Inline[], more: readonly Inline[]): void {
  for (const each of more) target.push(each)
}

/** Texts beside each other as one; marks without content go. */
export function joinTexts(inlines: readonly Inline[]): Inline[] {
  const joined: Inline[] = []
  let run: string[] = []
  function endRun() {
    const text = run.join('')
    if (text !== '') joined.push({ type: 'text', text })
    run = []
  }
  for (const each of inlines) {
    if (each.type === 'text') {
      run.push(each.text)
      continue
    }
    if ('children' in each && each.children.length === 0) continue
    endRun()
    joined.push(each)
  }
  endRun()
  return joined
}

/** Without white space and line ends at the beginning and the end, or at only one of them. */
export function trimInlines(inlines: readonly Inline[], at: 'both' | 'start' | 'end' = 'both'): Inline[] {
  let result = [...inlines]
  if (at !== 'end') result = trimOne(result, 'start')
  if (at !== 'start') result = trimOne(result, 'end')
  return result
}

function trimOne(inlines: Inline[], side: 'start' | 'end'): Inline[] {
  const result = side === 'start' ? inlines.reverse() : inlines
  for (let last = result.pop(); last !== undefined; last = result.pop()) {
    const trimmed = trimInline(last, side)
    if (trimmed === undefined) continue
    result.push(trimmed)
    break
  }
  return side === 'start' ? result.reverse() : result
}

function trimInline(inline: Inline, side: 'start' | 'end'): Inline | undefined {
  if (inline.type === 'break') return undefined
  if (inline.type === 'text') {
    const text = side === 'start' ? inline.text.replace(/^[ \t\n]+/, '') : trimEnd(inline.text)
    return text === '' ? undefined : { type: 'text', text }
  }
  if (!('children' in inline)) return inline
  const children = trimOne([...inline.children], side)
  return children.length === 0 ? undefined : { ...inline, children }
}

/** Not by a pattern: one that looks for white space before the end reads each run of it again from every character. */
function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\n'.includes(text[end - 1] ?? '.')) end -= 1
  return text.slice(0, end)
}
