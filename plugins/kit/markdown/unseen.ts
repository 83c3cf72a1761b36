/** Owns what a message must not hold, because it is not seen and changes what is. */

/** Of C0 and C1 only tab and line feed may be in a message; overrides of direction show a text as another one. */
const unseen = /(?![\t\n])\p{Cc}|[\u202d\u202e\ufeff\ufff9-\ufffb]/gu

export function withoutUnseen(text: string): string {
  return text.replace(unseen, '')
}
