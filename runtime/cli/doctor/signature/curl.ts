/** Owns a request file that holds a curl command, as browsers and senders' pages copy one. */

import { RequestFault } from './fault.ts'
import { addHeader, createHead } from './head.ts'
import { targetOf } from './json.ts'
import type { FiledRequest } from './request.ts'

interface Word {
  readonly text: string
  readonly offset: number
}

/** What takes a value, by what becomes of it; `''`: it says nothing of the request. */
const valued: Readonly<
  Record<string, 'method' | 'header' | 'data' | 'binary' | 'url' | 'agent' | 'json' | ''>
> = {
  '-X': 'method',
  '--request': 'method',
  '-H': 'header',
  '--header': 'header',
  '-d': 'data',
  '--data': 'data',
  '--data-ascii': 'data',
  '--data-raw': 'binary',
  '--data-binary': 'data',
  '--json': 'json',
  '--url': 'url',
  '-A': 'agent',
  '--user-agent': 'agent',
  '-o': '',
  '--output': '',
  '-w': '',
  '--write-out': '',
  '-m': '',
  '--max-time': '',
}

/** Options that change the request in ways that are not read here. */
const refused = new Set([
  '-F',
  '--form',
  '-G',
  '--get',
  '-T',
  '--upload-file',
  '--data-urlencode',
  '-K',
  '--config',
])

/** No shell takes a longer one. */
const longestCommand = 1024 * 1024

/** @throws RequestFault */
export function readCurlCommand(text: string): FiledRequest {
  if (text.length > longestCommand) throw new RequestFault(1, 1, 'The command is longer than 1 MiB.')
  const headers = createHead()
  const bodies: string[] = []
  let method: string | undefined
  let url: string | undefined
  let isJson = false
  // The first word is `curl`, perhaps behind a prompt.
  const words = splitWords(text).filter(({ text: word, offset }) => !(word === '$' && offset < 8))
  for (let index = 1; index < words.length; index++) {
    const word = words[index] as Word
    const fault = (message: string) => RequestFault.at(word.offset, text, message)
    const { name, joined } = optionOf(word.text)
    if (name === undefined) {
      url ??= word.text
      continue
    }
    if (refused.has(name))
      throw fault(`${name} is not read here; write the request as an HTTP message or as JSON.`)
    const kind = Object.hasOwn(valued, name) ? valued[name] : undefined
    if (kind === undefined) continue
    const value = joined ?? words[++index]?.text
    if (value === undefined) throw fault(`${name} wants a value.`)
    if (kind === 'method') method = value
    else if (kind === 'url') url = value
    else if (kind === 'agent') addHeader(headers, 'user-agent', value)
    else if (kind === 'header') {
      const colon = value.indexOf(':')
      if (!addHeader(headers, value.slice(0, Math.max(0, colon)), value.slice(colon + 1).trim()))
        throw fault('This is no header. Write `-H "name: value"`.')
    } else if (kind !== '') {
      if (kind !== 'binary' && value.startsWith('@'))
        throw fault('The body stands in another file; write the request as an HTTP message or as JSON.')
      isJson ||= kind === 'json'
      bodies.push(value)
    }
  }
  if (url === undefined) throw new RequestFault(1, 1, 'The command names no address.')
  if (bodies.length > 0 && headers['content-type'] === undefined)
    addHeader(headers, 'content-type', isJson ? 'application/json' : 'application/x-www-form-urlencoded')
  return {
    method: method ?? (bodies.length > 0 ? 'POST' : 'GET'),
    target: targetOf(url),
    ...(/^https?:\/\//i.test(url) && { url }),
    headers,
    rawBody: Buffer.from(bodies.join(isJson ? '' : '&')),
  }
}

/** `-XPOST` and `--request=POST` hold their value. */
function optionOf(word: string): { readonly name?: string; readonly joined?: string } {
  const [, long, value] = /^(--[a-z-]+)(?:=([\s\S]*))?$/.exec(word) ?? []
  if (long !== undefined) return value === undefined ? { name: long } : { name: long, joined: value }
  if (!/^-[a-zA-Z]/.test(word)) return {}
  const name = word.slice(0, 2)
  return word.length > 2 && Object.hasOwn(valued, name) ? { name, joined: word.slice(2) } : { name }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

/** As a POSIX shell and bash's `$'…'` divide them; nothing is expanded. */
function splitWords(text: string): Word[] {
  const words: Word[] = []
  const part =
    /\s+|\\\r?\n|'([^']*)'|\$'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\$]+|\$)/y
  let word: { texts: string[]; offset: number } | undefined
  const end = () => {
    if (word !== undefined) words.push({ text: word.texts.join(''), offset: word.offset })
    word = undefined
  }
  for (let at = 0; at < text.length; at = part.lastIndex) {
    part.lastIndex = at
    const found = part.exec(text)
    if (found === null) throw RequestFault.at(at, text, 'This quotation is not closed.')
    const [whole, single, ansi, double, escaped, bare] = found
    if (/^\\?\s/.test(whole) && escaped === undefined) {
      if (!whole.startsWith('\\')) end()
      continue
    }
    word ??= { texts: [], offset: at }
    word.texts.push(
      single ??
        ansiText(ansi) ??
        double?.replace(/\\([$`"\\\n])/g, (_, kept) => (kept === '\n' ? '' : kept)) ??
        escaped ??
        bare ??
        '',
    )
  }
  end()
  return words
}

function ansiText(text: string | undefined): string | undefined {
  return text?.replace(/\\(?:u([\da-fA-F]{1,4})|x([\da-fA-F]{1,2})|([\s\S]))/g, (_, unicode, hex, other) => {
    if (other !== undefined) return escapes[other] ?? `\\${other}`
    return String.fromCharCode(Number.parseInt(unicode ?? hex, 16))
  })
}
