/** The rules of texts that JSON Schema has no words for. They are in a file of their own because generated validators import them. */

export function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}

/** Whether the text has at most so many bytes of UTF-8. */
export function isWithin(maxBytes: number, text: string): boolean {
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
}
