/** Owns what `$0`, `$1` and `$$` stand for in the text that `$replace` puts in. */

/** As a matcher tells it; `next` gives the next one. */
export interface Match {
  readonly match: string
  readonly start: number
  readonly end: number
  readonly groups: readonly (string | undefined)[]
  readonly next?: unknown
}

export type Substitute = (found: Match) => unknown

type Piece = string | { readonly digits: string }

export function createSubstitute(replacement: string): Substitute {
  const pieces = readPieces(replacement)
  return (found) =>
    pieces.map((piece) => (typeof piece === 'string' ? piece : groupOf(piece.digits, found))).join('')
}

function readPieces(replacement: string): readonly Piece[] {
  return (replacement.match(/\$\$|\$\d+|[^$]+|\$/g) ?? []).map((part) => {
    if (part === '$$') return '$'
    return part.length > 1 && part.startsWith('$') ? { digits: part.slice(1) } : part
  })
}

/** As many digits as there can be groups make the number; those left over stand for themselves. */
function groupOf(digits: string, { match, groups }: Match): string {
  if (digits.startsWith('0')) return match + digits.slice(1)
  const most = groups.length === 0 ? 1 : Math.floor(Math.log10(groups.length)) + 1
  let number = digits.slice(0, most)
  if (number.length > 1 && Number(number) > groups.length) number = number.slice(0, -1)
  return (groups[Number(number) - 1] ?? '') + digits.slice(number.length)
}
