/** The draft being tried. It outlives the page, so that a look at another one loses nothing, and ends with the tab. */

import { yamlLanguage } from '@codemirror/lang-yaml'
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

/** Takes over what was typed or loaded. */
export function change(part: Partial<Draft>): void {
  draft.value = { ...draft.value, ...part }
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
  const above = text.split('\n').slice(0, line - 1)
  const from = above.reduce((length, each) => length + each.length + 1, column - 1)
  const innermost = yamlLanguage.parser.parse(text).resolveInner(from, 1)
  for (let node = innermost; node.parent !== null; node = node.parent) {
    if (!/^(Block|Flow)Mapping$/.test(node.name)) continue
    const entry = text.slice(from, node.to).replaceAll(new RegExp(`\\n {0,${column - 1}}`, 'g'), '\n')
    return `${entry.trimEnd()}\n`
  }
  return undefined
}
