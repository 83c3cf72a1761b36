/** Removes from a text what could steer a terminal, as names in a log record can come from a payload. */

/** One line; control and format characters, which could move a cursor or reverse the reading order, become a space. */
export function printable(text: unknown): string {
  return text === undefined || text === null ? '' : String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}
