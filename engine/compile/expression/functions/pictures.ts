/** Owns what a picture of a number or a time may ask of the library, which makes native expressions and digits of it. */

import { type Focus, libraryFunction } from '../library.ts'
import { thrownLimit } from '../limit.ts'

const longestPicture = 256
/** Times that are read. */
const longestRead = 128
/** Numbers in words are long. */
const longestNumber = 1_000
/** Parts of a time that are read as a run of letters or digits of any length; each may begin anywhere in the last. */
const mostOpen = 4

export function formatNumber(this: Focus, value: unknown, picture: string, options?: object): unknown {
  if (value === undefined) return undefined
  checkPicture(picture)
  for (const [name, mark] of Object.entries(options ?? {})) {
    const one = typeof mark === 'string' && mark.length > 0 && mark.length <= 16
    // The library looks for an empty mark for ever.
    if (!one || (name === 'zero-digit' && mark.length !== 1)) {
      throw thrownLimit('the options of $formatNumber are texts, and most of them one character')
    }
  }
  return libraryFunction('formatNumber').call(this, value, picture, options)
}

export function formatInteger(this: Focus, value: unknown, picture: string): unknown {
  if (value === undefined) return undefined
  checkPicture(picture)
  return libraryFunction('formatInteger').call(this, value, picture)
}

export function parseInteger(this: Focus, text: string | undefined, picture: string): unknown {
  if (text === undefined) return undefined
  checkPicture(picture)
  if (text.length > longestNumber) throw thrownLimit(`it reads texts of up to ${longestNumber} characters`)
  return libraryFunction('parseInteger').call(this, text, picture)
}

export function fromMillis(this: Focus, millis: unknown, picture?: string, zone?: string): unknown {
  if (picture !== undefined) checkTimePicture(picture)
  return libraryFunction('fromMillis').call(this, millis, picture, zone)
}

export function toMillis(this: Focus, text: string | undefined, picture?: string): unknown {
  if (text === undefined) return undefined
  if (text.length > longestRead) throw { code: 'D3110', value: text }
  if (picture !== undefined) {
    checkTimePicture(picture)
    checkOpenParts(picture)
  }
  return libraryFunction('toMillis').call(this, text, picture)
}

function checkPicture(picture: string): void {
  if (picture.length > longestPicture)
    throw thrownLimit(`its picture has more than ${longestPicture} characters`)
}

function checkTimePicture(picture: string): void {
  checkPicture(picture)
  if (/[,-]\d{5,}/.test(picture.replace(/\s+/g, ''))) throw thrownLimit('a width in its picture is too large')
}

/** `[MNn][FNn]` on `aaaa…` has as many readings as there are places to cut it. */
function checkOpenParts(picture: string): void {
  const markers = picture.match(/\[[^\]]*\][0-9]?/g) ?? []
  const open = markers.filter((marker) => {
    const [component = '', ...presentation] = marker.slice(1).replace(/\s+/g, '')
    const isName = /^[nNwWaAiI]/.test(presentation.join(''))
    const named = 'FPCE'.includes(component) && presentation[0] === ']'
    return isName || named || component === 'f' || /\d$/.test(marker)
  })
  if (open.length > mostOpen) {
    throw thrownLimit(`its picture has more than ${mostOpen} parts of any length, as names are`)
  }
}
