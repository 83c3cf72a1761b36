/** Owns finding signatures: where in a request they stand, and which texts there are signatures of the wanted version. */

import { firstHeaderOf, headerOf } from '../header.ts'
import type { BodyPlace, HeaderPlace, SignaturePlace } from '../scheme.ts'
import type { Headers } from '../signed-request.ts'
import type { BodyFields } from './body-fields.ts'

/** DocuSign has up to a hundred keys, and nobody else has more. */
export const mostSignatures = 100

export interface SignatureReader {
  /** Whether something stands where signatures do, as far as headers tell. */
  isPresent(headers: Headers): boolean
  /** As they are written, without what stands before them. Undefined: nothing stands there. Empty: nothing that is meant. */
  read(headers: Headers, body: BodyFields): readonly string[] | undefined
}

export function isInBody(place: SignaturePlace): place is BodyPlace {
  return 'body' in place
}

export function createSignatureReader(place: SignaturePlace): SignatureReader {
  if (isInBody(place)) return { isPresent: () => true, read: (_, body) => readOfBody(body(place)) }
  return place.headers.some((name) => name.endsWith('*')) ? readNumbered(place) : readFirst(place)
}

function readOfBody(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' ? [value] : []
}

function readFirst(place: HeaderPlace): SignatureReader {
  return {
    isPresent: (headers) => firstHeaderOf(headers, place.headers) !== undefined,
    read(headers) {
      const text = firstHeaderOf(headers, place.headers)
      return text === undefined ? undefined : signaturesIn(text, place)
    },
  }
}

function readNumbered(place: HeaderPlace): SignatureReader {
  const names = place.headers.flatMap((name) =>
    Array.from({ length: mostSignatures }, (_, index) => name.replace('*', String(index + 1))),
  )
  return {
    isPresent: (headers) => firstHeaderOf(headers, names) !== undefined,
    read(headers) {
      const texts = names.map((name) => headerOf(headers, name)).filter((text) => text !== undefined)
      return texts.length === 0 ? undefined : texts.flatMap((text) => signaturesIn(text, place))
    },
  }
}

function signaturesIn(text: string, place: HeaderPlace): readonly string[] {
  const { element, prefix, divider } = place
  if (element !== undefined) return elementsIn(text, element, divider)
  const start = prefix ?? ''
  if (divider === undefined) return text.startsWith(start) ? [text.slice(start.length)] : []
  return piecesOf(text, divider)
    .filter((piece) => piece.startsWith(start))
    .map((piece) => piece.slice(start.length))
}

/** The values of one name in a list `t=…,v1=…`. */
export function elementsIn(text: string, name: string, divider = ','): readonly string[] {
  const start = `${name}=`
  return piecesOf(text, divider)
    .filter((piece) => piece.startsWith(start))
    .map((piece) => piece.slice(start.length))
}

/** Of a list that somebody made longer than any sender does, the beginning. */
function piecesOf(text: string, divider: string): readonly string[] {
  return text.split(divider, mostSignatures + 1).map((piece) => piece.trim())
}
