/** Decodes bytes to text, whatever charset they claim to be in. */

/**
 * Decodes at most `maxBytes` bytes of base64url in the charset that `Content-Type` names. `isCut` tells whether only the first
 * bytes were read, and `bytes` how many.
 */
export function decodeData(data: string, charset: string | undefined, maxBytes: number) {
  const characters = Math.ceil(maxBytes / 3) * 4
  const isCut = data.length > characters
  const bytes = Buffer.from(isCut ? data.slice(0, characters) : data, 'base64url')
  return { text: decodeBytes(bytes, charset, isCut), isCut, bytes: bytes.length }
}

/**
 * Valid UTF-8 is read as UTF-8 whatever it claims to be, because Gmail converts many mails and leaves the old name.
 * An unknown charset is read as browsers do. With `isCut`, half a character at the end is dropped.
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

/**
 * Bytes of these charsets are often valid UTF-8 too, with another meaning. A byte that no text contains gives them
 * away.
 */
function onlyLooksLikeUtf8(encoding: string, bytes: Uint8Array): boolean {
  if (encoding === 'iso-2022-jp') return bytes.includes(0x1b)
  return encoding.startsWith('utf-16') && (bytes.includes(0) || bytes[0] === 0xff || bytes[0] === 0xfe)
}
