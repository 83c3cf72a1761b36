/** Decodes text by its charset, and never replaces what it cannot decode. */

/** The declared charset of a content type; undefined if it is UTF-8 or none is declared. */
export function charsetOf(contentType: string | undefined): string | undefined {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset) ? undefined : charset
}

export function isMultipart(contentType: string | undefined): boolean {
  return /^\s*multipart\//i.test(contentType ?? '')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns undefined for bytes that are not text of the charset, and for an unknown charset. A byte order mark is dropped. */
export function decodeText(bytes: Uint8Array, charset?: string): string | undefined {
  try {
    return (charset === undefined ? utf8 : new TextDecoder(charset, { fatal: true })).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Returns a form or a query whose escapes are UTF-8. Returns undefined if an escape is not text of the charset, which
 * the platform's parser would replace by U+FFFD.
 */
export function inUtf8(form: string, charset?: string): string | undefined {
  if (!form.includes('%')) return form
  if (charset === undefined) return hasUtf8Escapes(form) ? form : undefined
  let isValid = true
  // A name or value as a whole: in Shift_JIS the second byte of a character may be an ASCII letter.
  const text = form.replace(/[\0-%'-<>-\x7f]+/g, (part) => {
    if (!part.includes('%')) return part
    const decoded = decodeText(bytesOf(part), charset)
    isValid &&= decoded !== undefined
    return encodeURIComponent(decoded?.toWellFormed() ?? '')
  })
  return isValid ? text : undefined
}

function bytesOf(part: string): Buffer {
  const byte = (_escape: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))
  return Buffer.from(part.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, byte), 'latin1')
}

function hasUtf8Escapes(form: string): boolean {
  try {
    decodeURIComponent(form.replace(/%(?![0-9a-f]{2})/gi, '%25'))
    return true
  } catch {
    return false
  }
}
