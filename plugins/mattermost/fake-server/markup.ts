/** Reads Mattermost's markup as its web client shows it and as its server looks for users and addresses. */

export interface ReadMarkup {
  /** The text that a person reads. */
  readonly text: string
  /** The words outside code by which the server looks for users. */
  readonly words: ReadonlySet<string>
  /** The addresses without brackets in order; the server shows a preview of the first. */
  readonly bareAddresses: readonly string[]
  readonly images: readonly string[]
}

/** The result that is filled while a text is read. */
interface Collected {
  readonly words: Set<string>
  readonly bareAddresses: string[]
  readonly images: string[]
}

export function readMarkup(markup: string): ReadMarkup {
  const found: Collected = { words: new Set(), bareAddresses: [], images: [] }
  const text = readBlocks(markup.replaceAll('\u00a0', ' ').split('\n'), found).join('\n')
  return { text, ...found }
}

const fence = /^ {0,3}(`{3,}|~{3,})([^`~]*)$/
const heading = /^ *#{1,6} +(.+?) *#* *$/
const rule = /^(?: *[-*_]){3,} *$/
const quote = /^ *> ?/
const item = /^( *)([*+-]|\d+\.) +/
const tableRule = /^ *\|?[-:| ]*-[-:| ]*$/
const underline = /^ *(?:=|-){2,} *$/

function readBlocks(lines: readonly string[], found: Collected): string[] {
  const shown: string[] = []
  let at = 0
  const line = () => lines[at] ?? ''
  const isIn = () => at < lines.length
  while (isIn()) {
    const opened = fence.exec(line())
    const bullet = item.exec(line())
    if (line().trim() === '') {
      shown.push('')
      at += 1
    } else if (opened !== null) {
      const close = new RegExp(`^ {0,3}${opened[1]}[\`~]* *$`)
      for (at += 1; isIn() && !close.test(line()); at += 1) shown.push(line())
      at += 1
    } else if (/^ {4}/.test(line())) {
      for (; isIn() && /^ {4}/.test(line()); at += 1) shown.push(line().slice(4))
    } else if (heading.test(line())) {
      shown.push(readInline(heading.exec(line())?.[1] ?? '', found))
      at += 1
    } else if (line().includes('|') && tableRule.test(lines[at + 1] ?? '')) {
      const rows = [line()]
      for (at += 2; isIn() && line().includes('|'); at += 1) rows.push(line())
      shown.push(
        ...rows.map((row) =>
          cellsOf(row)
            .map((cell) => readInline(cell, found))
            .join('  '),
        ),
      )
    } else if (rule.test(line())) {
      at += 1
    } else if (quote.test(line())) {
      const quoted: string[] = []
      for (; isIn() && line().trim() !== ''; at += 1) quoted.push(line().replace(quote, ''))
      shown.push(...readBlocks(quoted, found))
    } else if (bullet !== null) {
      const width = bullet[0].length
      const inside = [line().slice(width)]
      const isInside = () =>
        /^ +/.test(line()) && (/^ */.exec(line())?.[0].length ?? 0) > (bullet[1] ?? '').length
      for (
        at += 1;
        isIn() && (isInside() || (line().trim() === '' && /^ +\S/.test(lines[at + 1] ?? '')));
        at += 1
      ) {
        inside.push(line().replace(new RegExp(`^ {1,${width}}`), ''))
      }
      const [first = '', ...rest] = readBlocks(inside, found)
      const task = /^\[([ xX])\] /.exec(first)
      const mark = /\d/.test(bullet[2] ?? '') ? bullet[2] : '•'
      const box = task === null ? '' : task[1] === ' ' ? '☐ ' : '☑ '
      shown.push(`${mark} ${box}${task === null ? first : first.slice(4)}`, ...rest)
    } else if (underline.test(lines[at + 1] ?? '')) {
      shown.push(readInline(line(), found))
      at += 2
    } else {
      const paragraph = [line().trimStart()]
      for (at += 1; isIn() && !startsBlock(line()); at += 1) paragraph.push(line().trimStart())
      shown.push(readInline(paragraph.join('\n'), found))
    }
  }
  return shown
}

function startsBlock(line: string): boolean {
  return line.trim() === '' || [fence, heading, rule, quote, item].some((start) => start.test(line))
}

/** Splits a row into its cells, at vertical bars that are not escaped. */
function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim())
}

/** The inline rules in the order in which the web client tries them. */
const escaped = /^\\([`*{}[\]()#+\-.!_>|~]|\\(?!\w))/
const angled = /^<((?:[^ >]+(?:@|:\/)|www\d{0,3}\.)[^ >]+)>/
const address = /^(?:[a-z][a-z\d.+-]*:\/{1,3}|www\d{0,3}\.)[^\s<>`]+/i
const link = /^(!?)\[((?:\[[^\]]*\]|[^[\]]|\](?=[^[]*\]))*)\]\(((?:[^()]|\([^()]*\))*)\)/
const strong = /^__([\s\S]+?)__(?!_)|^\*\*([\s\S]+?)\*\*(?!\*)/
const emphasis =
  /^_([^\s_])_(?!_)|^\*([^\s*"<])\*(?!\*)|^_([^\s][\s\S]*?[^\s_])_(?!_|[^\s!-/:-@[-`{-~])|^_([^\s_][\s\S]*?[^\s])_(?!_|[^\s!-/:-@[-`{-~])|^\*([^\s"<][\s\S]*?[^\s*])\*(?!\*)|^\*([^\s*"<][\s\S]*?[^\s])\*(?!\*)/
const code = /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/
const strike = /^~~(?=\S)([\s\S]*?\S)~~/

/** Where the reader is: whether inside the label of a link, and whether in plain text after a letter. */
interface Spot {
  readonly isLabel: boolean
  readonly isInWord: boolean
}

type Meaning =
  | { readonly kind: 'text' | 'marked' | 'code' | 'address'; readonly text: string }
  | { readonly kind: 'link' | 'image'; readonly text: string; readonly address: string }

/** Returns the first rule that matches the rest of the line and its result; plain text matches none. */
const rules: readonly ((rest: string, spot: Spot) => [whole: string, meaning: Meaning] | undefined)[] = [
  (rest) => said(escaped.exec(rest), ([, sign = '']) => ({ kind: 'text', text: sign })),
  (rest, { isLabel }) =>
    said(isLabel ? null : angled.exec(rest), ([, text = '']) => ({ kind: 'address', text })),
  (rest, { isLabel, isInWord }) => {
    const [whole = ''] = isLabel || isInWord ? [] : (address.exec(rest) ?? [])
    const text = whole.replace(/[?!.,:*_~'"]+$/, '')
    return text === '' ? undefined : [text, { kind: 'address', text }]
  },
  (rest) =>
    said(link.exec(rest), ([, mark, text = '', to = '']) => {
      return { kind: mark === '!' ? 'image' : 'link', text, address: to }
    }),
  (rest, { isInWord }) => (isInWord && rest.startsWith('_') ? undefined : marked(strong.exec(rest))),
  (rest, { isInWord }) => (isInWord && rest.startsWith('_') ? undefined : marked(emphasis.exec(rest))),
  (rest) => said(code.exec(rest), ([, , text = '']) => ({ kind: 'code', text: text.trim() })),
  (rest) => marked(strike.exec(rest)),
]

function said(found: RegExpExecArray | null, mean: (found: RegExpExecArray) => Meaning) {
  return found === null ? undefined : ([found[0], mean(found)] as [string, Meaning])
}

function marked(found: RegExpExecArray | null) {
  return said(found, ([, ...inner]) => ({
    kind: 'marked',
    text: inner.find((each) => each !== undefined) ?? '',
  }))
}

/** Splits text so that a run of backticks and a character reference are one piece each. */
const plain = /^(?:`+|&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot);|[\s\S])/iu

function readInline(source: string, found: Collected, isLabel = false): string {
  let shown = ''
  /** The text in which the server looks for names; code and links separate it. */
  let spoken = ''
  let isInWord = false
  for (let rest = source; rest !== ''; ) {
    const obeyed = rules.values().flatMap((rule) => rule(rest, { isLabel, isInWord }) ?? [])
    const [whole, meaning] = [...obeyed].slice(0, 2) as [string?, Meaning?]
    const sign = plain.exec(rest)?.[0] ?? ''
    rest = rest.slice((whole ?? sign).length)
    isInWord = whole === undefined && /\w$/.test(sign)
    const { kind, text } = meaning ?? { kind: 'text', text: characterOf(sign) }
    const read =
      kind === 'marked' || kind === 'link' ? readInline(text, found, isLabel || kind === 'link') : text
    shown += read
    if (kind === 'address') found.bareAddresses.push(text)
    if (meaning?.kind === 'image') found.images.push(meaning.address)
    // The server knows no emphasis and reads the words on both sides as one text.
    spoken += kind === 'text' || kind === 'marked' ? read : ' '
  }
  for (const word of wordsOf(spoken)) found.words.add(word)
  return shown
}

/** Splits a text, as the server does to look for users, at characters that no name can hold. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}:._\-@]+/gu) ?? []
  return words.flatMap((word) => {
    const bare = word.replace(/^[:._-]+/, '')
    const shorter = Array.from({ length: bare.length }, (_, cut) => bare.slice(0, bare.length - cut))
    const trimmed = shorter.filter((each) => each === bare || /^[.:_-]+$/.test(bare.slice(each.length)))
    return [...trimmed, ...bare.split(/[.:-]/)]
  })
}

/** Decodes a character reference; any other text stays as it is. */
function characterOf(sign: string): string {
  const named: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }
  const [, hexadecimal, decimal] = /^&#(?:x([\da-f]+)|(\d+));$/i.exec(sign) ?? []
  if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16))
  if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
  return named[sign.toLowerCase()] ?? sign
}
