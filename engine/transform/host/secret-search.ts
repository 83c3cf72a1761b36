/**
 * Finds many secrets in one pass over a text, whatever their case, by skipping as Wu and Manber do (A fast algorithm for
 * multi-pattern searching, 1994): where two characters occur in no secret, the next seven places cannot begin one.
 */

import type { Span } from '../../config/values/secret.ts'

/** Every form has at least this many UTF-16 units. A form is recognised by them if the text was cut behind them. */
const prefixLength = 8
const pairs = 128 * 128
/** The character at which a text was cut. */
const ellipsis = 0x2026

/** Only ASCII letters have two cases here: others would change the length of a text. */
function folded(unit: number): number {
  return unit >= 65 && unit <= 90 ? unit + 32 : unit
}

function pairAt(text: string, index: number): number {
  return ((folded(text.charCodeAt(index)) & 127) << 7) | (folded(text.charCodeAt(index + 1)) & 127)
}

/** Returns a function that finds the places of all forms, in order and apart. Forms of fewer than eight units are left out. */
export function compileSearch(forms: Iterable<string>): (text: string) => readonly Span[] {
  const shifts = new Uint8Array(pairs).fill(prefixLength - 1)
  const byLastPair = new Map<number, string[]>()
  for (const form of forms) {
    if (form.length < prefixLength) continue
    for (let index = 0; index < prefixLength - 1; index++) {
      const pair = pairAt(form, index)
      shifts[pair] = Math.min(shifts[pair] ?? 0, prefixLength - 2 - index)
    }
    const last = pairAt(form, prefixLength - 2)
    const entry = byLastPair.get(last)
    if (entry === undefined) byLastPair.set(last, [form])
    else entry.push(form)
  }

  return (text) => {
    const found: { start: number; end: number }[] = []
    for (let at = prefixLength - 2; at < text.length - 1; ) {
      const pair = pairAt(text, at)
      const shift = shifts[pair] ?? 0
      if (shift > 0) {
        at += shift
        continue
      }
      const start = at - (prefixLength - 2)
      let end = 0
      for (const form of byLastPair.get(pair) ?? []) end = Math.max(end, endOf(form, text, start))
      if (end > 0) {
        const before = found.at(-1)
        if (before !== undefined && start <= before.end) before.end = Math.max(before.end, end)
        else found.push({ start, end })
      }
      at += 1
    }
    return found
  }
}

/** Returns where the form ends that begins at `start`, or where the text was cut in it; 0 if another text is there. */
function endOf(form: string, text: string, start: number): number {
  let length = 0
  while (
    length < form.length &&
    start + length < text.length &&
    folded(form.charCodeAt(length)) === folded(text.charCodeAt(start + length))
  )
    length += 1
  const end = start + length
  if (length === form.length) return end
  const isCut = end === text.length || text.charCodeAt(end) === ellipsis
  return isCut && length >= prefixLength ? end : 0
}
