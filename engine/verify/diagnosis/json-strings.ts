/** Owns where a string of JSON ends. */

/** Behind the closing quote. Undefined: there is none. */
export function stringEnd(text: string, start: number): number | undefined {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashesBefore = 0
    while (text[quote - 1 - slashesBefore] === '\\') slashesBefore++
    if (slashesBefore % 2 === 0) return quote + 1
  }
  return undefined
}
