/** Writes several names in one line. */

/** The most names that are written out. */
const mostNamed = 5

/** Returns `a`, `a and b`, or `a, b and 3 more`. */
export function listed(names: readonly string[]): string {
  const shown = names.length > mostNamed ? names.slice(0, mostNamed - 1) : names
  const left = names.length - shown.length
  const all = left > 0 ? [...shown, `${left} more`] : shown
  const last = all.at(-1) ?? ''
  return all.length < 2 ? last : `${all.slice(0, -1).join(', ')} and ${last}`
}
