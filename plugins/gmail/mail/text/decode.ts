/** Owns how bytes become text, whatever charset they say they are in. */

export interface Decoded {
  readonly text: string
  /** Of the bytes, only the beginning was looked at. */
  readonly isCut: boolean
  /** Bytes that were looked at. */
  readonly bytes: number
}

/** At most `most` bytes of what is base64url, in the charset that it names, as `Content-Type` does. */
export function decodeData(data: string, charset: string | undefined, most: number): Decoded {
  const characters = Math.ceil(most / 3) * 4
  const isCut = data.length > characters
  const bytes = Buffer.from(isCut ? data.slice(0, characters) : data, 'base64url')
  return { text: decodeBytes(bytes, charset, isCut), isCut, bytes: bytes.length }
}

/**
 * What is valid UTF-8 is UTF-8, whatever it is called: Gmail turns much into it and leaves the old name. An unknown name
 * is read as the web reads one. `isCut`: half a character at the end goes.
 */
export function decodeBytes(bytes: Uint8Array, charset: string | undefined, isCut = false): string {
  const named = decoderOf(charset)
  const stream = isCut
  if (named !== undefined && onlyLooksLikeUtf8(named.encoding, bytes)) return named.decode(bytes, { stream })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream })
  } catch {
    return (named ?? new TextDecoder('windows-1252')).decode(bytes, { stream })
  }
}

/** https://encoding.spec.whatwg.org/#names-and-labels */
export function decoderOf(charset: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  if (charset === undefined) return undefined
  try {
    return new TextDecoder(charset.trim())
  } catch {
    return undefined
  }
}

/** These are made of bytes that are valid UTF-8 too, and say something else; a byte that no text has gives them away. */
function onlyLooksLikeUtf8(encoding: string, bytes: Uint8Array): boolean {
  if (encoding === 'iso-2022-jp') return bytes.includes(0x1b)
  return encoding.startsWith('utf-16') && (bytes.includes(0) || bytes[0] === 0xff || bytes[0] === 0xfe)
}
