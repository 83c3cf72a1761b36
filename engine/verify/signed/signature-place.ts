/** Finds the signatures in a request: their place, and those of the expected version. */

import type { BodyPlace, HeaderPlace, HmacScheme, SignaturePlace } from '../../providers/scheme.ts'
import { firstHeaderOf, headerOf } from '../header.ts'
import type { Headers } from '../verifier.ts'
import type { BodyFields } from './body-fields.ts'

/** DocuSign has up to a hundred keys, and no other sender has more. */
export const maxSignatures = 100

export interface SignatureReader {
  /** True if there is a value in the place of signatures, as far as headers show. */
  isPresent(headers: Headers): boolean
  /** Returns the signatures without their prefix: undefined if there are none, empty if none has the prefix. */
  read(headers: Headers, body: BodyFields): readonly string[] | undefined
}

export function isInBody(place: SignaturePlace | HmacScheme['id']): place is BodyPlace {
  return place !== undefined && 'body' in place
}

export function createSignatureReader(place: SignaturePlace): SignatureReader {
  if (isInBody(place)) return { isPresent: () => true, read: (_, body) => textsIn(body(place)) }
  const names = place.headers.flatMap(numbered)
  const isNumbered = names.length > place.headers.length
  return {
    isPresent: (headers) => firstHeaderOf(headers, names) !== undefined,
    read(headers) {
      const texts = names.map((name) => headerOf(headers, name)).filter((text) => text !== undefined)
      const counted = isNumbered ? texts : texts.slice(0, 1)
      return texts.length === 0 ? undefined : counted.flatMap((text) => signaturesIn(text, place))
    },
  }
}

function numbered(name: string): readonly string[] {
  if (!name.endsWith('*')) return [name]
  return Array.from({ length: maxSignatures }, (_, index) => name.replace('*', String(index + 1)))
}

function textsIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' ? [value] : []
}

function signaturesIn(text: string, { element, prefix = '', divider }: HeaderPlace): readonly string[] {
  if (element !== undefined) return elementsIn(text, element, divider)
  return afterPrefix(divider === undefined ? [text] : piecesOf(text, divider), prefix)
}

/** Returns the values of one name in a list `t=…,v1=…`. */
export function elementsIn(text: string, name: string, divider = ','): readonly string[] {
  return afterPrefix(piecesOf(text, divider), `${name}=`)
}

function afterPrefix(pieces: readonly string[], prefix: string): readonly string[] {
  return pieces.filter((piece) => piece.startsWith(prefix)).map((piece) => piece.slice(prefix.length))
}

/** Splits the text. Of a list that is longer than any sender makes it, only the beginning is read. */
function piecesOf(text: string, divider: string): readonly string[] {
  return text.split(divider, maxSignatures + 1).map((piece) => piece.trim())
}
