/** The draft being tried. It outlives the page, so that a look at another one loses nothing, and ends with the tab. */

import { signal } from '@preact/signals'
import { layOut } from '../../parts/json-layout.ts'

export interface Draft {
  readonly endpoint: string
  /** One header a line: `name: value`. */
  readonly headers: string
  /** As in an address, without the question mark. */
  readonly query: string
  readonly payload: string
  /** Empty: the live mappings are tried. */
  readonly mapping: string
  /** The file in the folder of mapping files that the mapping is from. */
  readonly file?: string
  /** The stored request that it came from. */
  readonly request?: string
}

export const draft = signal<Draft>({
  endpoint: '',
  headers: 'content-type: application/json',
  query: '',
  payload: '{}',
  mapping: '',
})

/** Counts what was loaded, so that editors know a text that they did not report themselves. */
export const loads = signal(0)

/** Takes over what was typed. */
export function change(part: Partial<Draft>): void {
  draft.value = { ...draft.value, ...part }
}

/** Takes over what was loaded. */
export function load(part: Partial<Draft>): void {
  change(part)
  loads.value += 1
}

type Named = Readonly<Record<string, string | readonly string[] | undefined>>

/** Headers that a gateway, a proxy or a client adds, and that no mapping is about. */
const ofTransport =
  /^(host|connection|content-length|accept-encoding|transfer-encoding|te|expect|keep-alive)$/

export function headersText(headers: Named): string {
  return Object.entries(headers)
    .filter(([name]) => !ofTransport.test(name))
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one.replace(/[\r\n]+/g, ' ')}`))
    .join('\n')
}

export function parseHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const lowerCaseName = name.toLowerCase()
    headers[lowerCaseName] =
      headers[lowerCaseName] === undefined ? value : `${headers[lowerCaseName]}, ${value}`
  }
  return headers
}

/** Of a name that appears several times the last value counts. */
export const parseQuery = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text))

export function queryText(query: Named): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) written.append(name, one)
  }
  return written.toString()
}

/** JSON over several lines, and everything else as it is. */
export const payloadText = (body: string): string => layOut(body) ?? body

/**
 * Cuts one entry out of a mapping file. `line` and `column` are where its value begins, from 1. Undefined where the file has
 * changed since, so that nothing begins there.
 */
export function entryAt(text: string, line: number, column: number): string | undefined {
  const lines = text.split('\n')
  const first = lines[line - 1]?.slice(column - 1)
  if (first === undefined || first.trim() === '') return undefined
  if (first.startsWith('{')) return inBraces([first, ...lines.slice(line)].join('\n'))
  const rest: string[] = []
  for (const next of lines.slice(line)) {
    const indent = next.length - next.trimStart().length
    if (next.trim() !== '' && indent < column - 1) break
    rest.push(next.slice(column - 1))
  }
  return `${[first, ...rest].join('\n').trimEnd()}\n`
}

/** The text up to the brace that closes its first one. */
function inBraces(text: string): string | undefined {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[{}]/g)) {
    if (token === '{') depth += 1
    else if (token === '}') depth -= 1
    if (depth === 0) return `${text.slice(0, index + 1)}\n`
  }
  return undefined
}

/** `mappings/github.yaml:9:5` */
export function readPlace(place: string): { name: string; line: number; column: number } | undefined {
  const [, name, line, column] = /^(.*):(\d+):(\d+)$/.exec(place) ?? []
  return name === undefined ? undefined : { name, line: Number(line), column: Number(column) }
}

/** True if a mapping's `match.path` covers an endpoint; a segment such as `:id` stands for any one. */
export function covers(path: string | undefined, endpoint: string): boolean {
  if (path === undefined || path === '' || path === '/') return true
  const patternSegments = path.split('/')
  const segments = endpoint.split('/')
  return (
    patternSegments.length === segments.length &&
    patternSegments.every((part, index) => part.startsWith(':') || part === segments[index])
  )
}
