/** Converts the inline tokens of the lexer into marks, links and text. */

import type { Token } from 'marked'
import { isDeceptive, isSameAddress, safeAddress } from './address.ts'
import { decodeReferences } from './entities.ts'
import { type Inline, readInlines } from './tree.ts'

type Tag =
  | { readonly kind: 'break' }
  | { readonly kind: 'open'; readonly name: TagName; readonly address?: string }
  | { readonly kind: 'close'; readonly name: TagName }

type TagName = 'strong' | 'emphasis' | 'strike' | 'code' | 'link'

const names: ReadonlyMap<string, TagName> = new Map([
  ['b', 'strong'],
  ['strong', 'strong'],
  ['i', 'emphasis'],
  ['em', 'emphasis'],
  ['s', 'strike'],
  ['del', 'strike'],
  ['strike', 'strike'],
  ['code', 'code'],
  ['kbd', 'code'],
  ['a', 'link'],
])

/** Reads one of the few HTML tags that are marks, or undefined if it has more than a name and, for a link, an address. */
function readTag(text: string): Tag | undefined {
  if (text.length > 10_000) return undefined
  if (/^<br *\/?>$/i.test(text)) return { kind: 'break' }
  const found = /^<(\/?)([a-z]+) *>$/i.exec(text)
  const name = names.get(found?.[2]?.toLowerCase() ?? '')
  if (name !== undefined && found?.[1] === '/') return { kind: 'close', name }
  if (name !== undefined && name !== 'link') return { kind: 'open', name }
  const link = /^<a +href *= *(?:"([^"<>]*)"|'([^'<>]*)') *>$/i.exec(text)
  if (link === null) return undefined
  return { kind: 'open', name: 'link', address: decodeReferences(link[1] ?? link[2] ?? '') }
}

/** Converts tokens so that adjacent texts are joined, `break` separates lines, and no line has white space at its ends. */
export function toInlines(tokens: readonly Token[]): Inline[] {
  return trimInlines(joinTexts(convert(tokens)))
}

/** Maximum depth of nested tags that become marks; deeper ones stay text. */
const maxTagsDepth = 12

interface OpenTag {
  readonly tag: Extract<Tag, { kind: 'open' }>
  /** The index of the tag's own text in the converted inlines, which is removed if the tag is closed. */
  readonly index: number
}

/** Converts tokens. HTML tags that are closed become marks, and the others stay text. */
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
      if (tag !== undefined && open.length < maxTagsDepth) open.push({ tag, index: converted.length })
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

/** Makes a link. An address that no link may have is written beside the label if a person can read it. */
function link(given: string, inside: readonly Inline[]): Inline[] {
  const address = safeAddress(given)
  // An image would be a link inside a link, which no surface has, so that a badge leads where its link leads.
  const children = address === undefined ? inside : joinTexts(inside.map(asLabel))
  const label = readInlines(children)
  if (address === undefined) {
    const addsText = given !== '' && given !== label && !given.startsWith('#') && !/^data:/i.test(given)
    return addsText
      ? [...children, { type: 'text', text: label === '' ? given : ` (${given})` }]
      : [...children]
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
    .split('\n')
    .flatMap((line, index): Inline[] => [
      ...(index === 0 ? [] : [{ type: 'break' } as const]),
      ...(line === '' ? [] : [{ type: 'text', text: line } as const]),
    ])
}

function append(target: Inline[], more: readonly Inline[]): void {
  for (const each of more) target.push(each)
}

/** Joins adjacent texts, and removes marks without content and white space beside the ends of lines. */
function joinTexts(inlines: readonly Inline[]): Inline[] {
  const joined: Inline[] = []
  let run: string[] = []
  function endRun(next?: Inline) {
    let text = run.join('')
    if (joined.at(-1)?.type === 'break') text = text.replace(/^[ \t]+/, '')
    if (next?.type === 'break') text = trimEnd(text)
    if (text !== '') joined.push({ type: 'text', text })
    run = []
  }
  for (const each of inlines) {
    if (each.type === 'text') {
      run.push(each.text)
      continue
    }
    if ('children' in each && each.children.length === 0) continue
    endRun(each)
    joined.push(each)
  }
  endRun()
  return joined
}

/** Removes white space and line ends at the beginning and the end, or at only one of them. */
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

/** Trims without a pattern, which would read each run of white space again from every one of its characters. */
export function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\n'.includes(text[end - 1] ?? '.')) end -= 1
  return text.slice(0, end)
}
