/** Owns what this gateway has said of late, as digests, and finds it again in a payload. */

import { hash } from 'node:crypto'

/** How long a text is known again. Milliseconds. */
export const keptMs = 86_400_000
/** The newest; each costs about 200 bytes, however long it is. */
const mostTexts = 10_000
/** A shorter text is said by many. UTF-16 units, folded. */
export const shortestText = 24
/** How much of a text's beginning its mark is made of. UTF-16 units. */
const markedUnits = 12
/** What of a payload is looked at: about a millisecond's work. */
const mostNodes = 10_000
const mostUnits = 256 * 1024

export interface OwnWords {
  /** Whether there is nothing to be found. */
  isEmpty(): boolean
  /** `at`: when it was said. Default: now. */
  note(text: string, at?: number): void
  /**
   * Whether a string of the payload, whole, is a text that was said: white space at its ends does not count, and
   * neither does how much of it stands between words. Of a large payload, only the beginning is looked at, what lies higher first.
   */
  finds(payload: unknown): boolean
}

/** `now`: milliseconds since the Unix epoch. */
export function createOwnWords({ now, most = mostTexts }: { now: () => number; most?: number }): OwnWords {
  /** By digest, the oldest first. */
  const said = new Map<string, { readonly at: number; readonly mark: number }>()
  /** How many of them have a mark: a string that begins like none of them needs no digest. */
  const marks = new Map<number, number>()
  let longest = 0

  function forget(digest: string): void {
    const known = said.get(digest)
    if (known === undefined) return
    said.delete(digest)
    const others = (marks.get(known.mark) ?? 1) - 1
    if (others > 0) marks.set(known.mark, others)
    else marks.delete(known.mark)
  }

  function forgetOld(): void {
    const since = now() - keptMs
    for (const [digest, { at }] of said) {
      if (at > since && said.size <= most) break
      forget(digest)
    }
    if (said.size === 0) longest = 0
  }

  return {
    isEmpty: () => said.size === 0,

    note(text, at = now()) {
      const folded = fold(text)
      const { length } = folded
      if (length < shortestText) return
      const [digest, mark] = [digestOf(folded), markOf(folded)]
      // Said again while it was being remembered.
      if ((said.get(digest)?.at ?? at) > at) return
      forget(digest)
      said.set(digest, { at, mark })
      marks.set(mark, (marks.get(mark) ?? 0) + 1)
      longest = Math.max(longest, length)
      forgetOld()
    },

    finds(payload) {
      forgetOld()
      if (said.size === 0) return false
      // One that is far longer than all that was said is not made equal by folding.
      const most = longest * 2
      let units = 0
      const nodes: unknown[] = [payload]
      for (let at = 0; at < nodes.length; at += 1) {
        const node = nodes[at]
        if (typeof node !== 'string') {
          gather(node, nodes)
          continue
        }
        if (node.length < shortestText || node.length > most) continue
        units += node.length
        if (units > mostUnits) return false
        if (marks.has(markOf(node)) && said.has(digestOf(fold(node)))) return true
      }
      return false
    },
  }
}

/**
 * What a node holds joins the others, so that what lies higher comes first. An array may be far longer than what is
 * looked at, and naming all its indices would take long.
 */
function gather(node: unknown, nodes: unknown[]): void {
  if (typeof node !== 'object' || node === null) return
  const values: readonly unknown[] = Array.isArray(node) ? node : Object.values(node)
  for (let at = 0; at < values.length && nodes.length < mostNodes; at += 1) nodes.push(values[at])
}

/**
 * A number for how the text begins, white space left out, so that nothing need be folded for it (FNV-1a,
 * http://www.isthe.com/chongo/tech/comp/fnv/).
 */
function markOf(text: string): number {
  let mark = 0x811c9dc5
  let units = 0
  for (let at = 0; at < text.length && units < markedUnits; at += 1) {
    const unit = text.charCodeAt(at)
    if (isSpace(unit)) continue
    mark = Math.imul(mark ^ unit, 0x01000193)
    units += 1
  }
  return mark
}

/** As `\s` has it. */
function isSpace(unit: number): boolean {
  if (unit < 0xa0) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  )
}

function fold(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

function digestOf(folded: string): string {
  return hash('sha256', folded, 'base64')
}
