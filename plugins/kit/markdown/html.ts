/** Owns the few tags of raw HTML that mean what a mark means. All others are shown as they were written. */

import { decodeReferences } from './entities.ts'

export type Tag =
  | { readonly kind: 'break' }
  | { readonly kind: 'open'; readonly name: TagName; readonly address?: string }
  | { readonly kind: 'close'; readonly name: TagName }

export type TagName = 'strong' | 'emphasis' | 'strike' | 'code' | 'link'

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

/** Undefined for a tag that has more to it than its name (and, for a link, its address). */
export function readTag(text: string): Tag | undefined {
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
