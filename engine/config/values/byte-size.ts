/** Parses sizes: the strings `500KiB`, `20MiB`, `1GiB` and `2TiB`, and their bytes. */

const unitBytes = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const

/** The pattern of sizes for schemas. */
export const byteSizePattern = '^(0|[1-9][0-9]{0,6})(B|KiB|MiB|GiB|TiB)$'

/** Returns bytes. @throws RangeError if the string is not a size */
export function parseByteSize(text: string): number {
  const found = /^(0|[1-9]\d{0,6})(B|KiB|MiB|GiB|TiB)$/.exec(text)
  if (!found) throw new RangeError('A size is a whole number and B, KiB, MiB, GiB or TiB')
  const bytes = Number(found[1]) * unitBytes[found[2] as keyof typeof unitBytes]
  return Math.min(bytes, Number.MAX_SAFE_INTEGER)
}
