/** Writes counts and lists of names as words. */

/** Writes a number with its noun: `1 error`, `2 errors`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** The most names that are written out, unless a caller says otherwise. */
const maxNamed = 5

/** Writes several names: `a`, `a and b`, or `a, b and 3 more`. */
export function listed(names: readonly string[], most = maxNamed): string {
  const shown = names.length > most ? names.slice(0, most - 1) : names
  const left = names.length - shown.length
  const all = left > 0 ? [...shown, `${left} more`] : shown
  const last = all.at(-1) ?? ''
  return all.length < 2 ? last : `${all.slice(0, -1).join(', ')} and ${last}`
}
