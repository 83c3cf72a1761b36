/**
 * Reads a message as Discord's clients do: what is shown, who is mentioned and where links lead.
 *
 * Source: support.discord.com, "Markdown Text 101", and discord.com/developers/docs/reference#message-formatting.
 */

export interface Reading {
  /** The text that a person reads. */
  readonly text: string
  /** The mentions shown in the message, including those that do not notify. */
  readonly mentions: readonly string[]
  /** The links that a person can click, with their labels. */
  readonly links: readonly { readonly label: string; readonly address: string }[]
}

interface Notes {
  readonly mentions: string[]
  readonly links: { label: string; address: string }[]
}

export function readMarkup(content: string): Reading {
  const notes: Notes = { mentions: [], links: [] }
  return { text: readBlocks(content, notes), ...notes }
}

const fence = /```(?:([a-z0-9_+\-.#]+)\n)?\n*([^\n][\s\S]*?)\n*```/i

/** Reads code fences first, since nothing within them is markup. */
function readBlocks(content: string, notes: Notes): string {
  const found = fence.exec(content)
  if (found === null) return readLines(content, notes)
  const before = readLines(content.slice(0, found.index), notes)
  const after = readBlocks(content.slice(found.index + found[0].length), notes)
  return `${before}${found[2] ?? ''}${after}`
}

function readLines(text: string, notes: Notes): string {
  const lines = text.split('\n').map((line) => {
    const [, quote = '', rest = ''] = /^(> ?>> |> )?(.*)$/s.exec(line) ?? []
    const [, indent = '', marker = '', words = ''] =
      /^(\s*)(#{1,3} +|-# +|[-*] +|\d+\. +)?(.*)$/s.exec(rest) ?? []
    return { quote, prefix: `${indent}${prefixOf(marker)}`, words }
  })
  // Inline markup may continue over lines; quotes and list items end it.
  let shown = ''
  let open = ''
  for (const [index, { quote, prefix, words }] of lines.entries()) {
    const isFresh = index === 0 || quote !== '' || prefix.trim() !== '' || lines[index - 1]?.quote !== quote
    if (isFresh) {
      shown += readInline(open, notes)
      open = ''
      shown += `${index === 0 ? '' : '\n'}${prefix}`
      open = words
    } else {
      open += `\n${prefix}${words}`
    }
  }
  return shown + readInline(open, notes)
}

function prefixOf(marker: string): string {
  if (/^[-*] /.test(marker)) return '• '
  return /^\d/.test(marker) ? marker : ''
}

type Rule = readonly [RegExp, (found: RegExpExecArray, notes: Notes) => string]

const inner = (found: RegExpExecArray, notes: Notes) => readInline(found[1] ?? '', notes)

function mention(found: RegExpExecArray, { mentions }: Notes): string {
  mentions.push(found[0])
  return found[0]
}

function link(label: string, address: string, { links }: Notes): string {
  links.push({ label, address })
  return label
}

/** The inline rules, which are tried in this order. */
const rules: readonly Rule[] = [
  [/(`+)([\s\S]*?[^`])\1(?!`)/y, ([, , code = '']) => code.replace(/^ (?=`)|(?<=`) $/g, '')],
  [/\\([^0-9A-Za-z\s])/y, ([, sign = '']) => sign],
  [/<@[!&]?\d+>|<#\d+>|<a?:\w{2,32}:\d+>|<\/[^>\n]{1,32}:\d+>|<t:-?\d+(?::\w)?>|<id:\w+>/y, mention],
  [/@everyone|@here/y, mention],
  [
    /\[((?:\\.|\[[^[\]]*\]|[^[\]\\])*)\]\(\s*<?((?:https?|mailto|tel):[^\s<>)]*(?:\([^\s<>)]*\)[^\s<>)]*)*)>?\s*\)/y,
    ([, label = '', address = ''], notes) => link(readInline(label, { ...notes, links: [] }), address, notes),
  ],
  [/<(https?:\/\/[^\s<>]+)>/y, ([, address = ''], notes) => link(address, address, notes)],
  [/https?:\/\/[^\s<]*[^\s<.,:;"')\]]/y, ([address], notes) => link(address, address, notes)],
  [/\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)/y, inner],
  [/__((?:\\[\s\S]|[^\\])+?)__(?!_)/y, inner],
  [/~~((?:\\[\s\S]|[^\\])+?)~~(?!~)/y, inner],
  [/\|\|((?:\\[\s\S]|[^\\])+?)\|\|/y, inner],
  [/\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)/y, inner],
  [/(?<![0-9A-Za-z])_((?:__|\\[\s\S]|[^\\_])+?)_(?![0-9A-Za-z])/y, inner],
]

function readInline(text: string, notes: Notes): string {
  let shown = ''
  let at = 0
  while (at < text.length) {
    let taken = 0
    for (const [pattern, read] of rules) {
      pattern.lastIndex = at
      const found = pattern.exec(text)
      if (found === null) continue
      // The position is read before the pattern is used again, because the pattern remembers it.
      taken = found[0].length
      shown += read(found, notes)
      break
    }
    if (taken === 0) shown += text[at]
    at += taken || 1
  }
  return shown
}
