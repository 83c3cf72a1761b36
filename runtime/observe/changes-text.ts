/** Words the difference between two generations in one line: with names, and never with a value. */

interface Difference {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

interface Changes {
  readonly mappings: Difference & { readonly reordered: boolean }
  readonly endpoints: Difference
  readonly transforms: Difference
  readonly settings: readonly string[]
  /** Settings that need a restart. */
  readonly restart: readonly string[]
}

/** Number of names of a list that are shown; the others are counted. */
const shownNames = 3
/** More settings are shown, because an admin looks for them. */
const shownSettings = 8

/** `+2 mappings, 1 changed (pr-opened); settings: hooks.token; restart needed for gateway.port`; empty for none. */
export function changesText(changes: Changes): string {
  return changesParts(changes).join('; ')
}

/** One part for each kind of thing that differs. */
export function changesParts({ mappings, endpoints, transforms, settings, restart }: Changes): string[] {
  return [
    differenceText('mapping', mappings, mappings.reordered),
    differenceText('endpoint', endpoints),
    differenceText('transform', transforms),
    settings.length === 0 ? '' : `settings: ${namesText(settings, shownSettings)}`,
    restart.length === 0 ? '' : `restart needed for ${namesText(restart, shownSettings)}`,
  ].filter((part) => part !== '')
}

/** The first part has the noun: `1 mapping changed (a), 1 removed (b)`. */
function differenceText(noun: string, { added, changed, removed }: Difference, reordered = false): string {
  const parts: string[] = []
  const nounOnce = (count: number) => (parts.length > 0 ? '' : ` ${noun}${count === 1 ? '' : 's'}`)
  const add = (names: readonly string[], sign: string, verb: string) => {
    if (names.length === 0) return
    parts.push(`${sign}${names.length}${nounOnce(names.length)}${verb} (${namesText(names, shownNames)})`)
  }
  add(added, '+', '')
  add(changed, '', ' changed')
  add(removed, '', ' removed')
  if (reordered) parts.push(parts.length > 0 ? 'reordered' : `${noun}s reordered`)
  return parts.join(', ')
}

function namesText(names: readonly string[], shown: number): string {
  const more = names.length - shown
  // One more name takes no more room than `1 more`.
  return more <= 1 ? names.join(', ') : `${names.slice(0, shown).join(', ')}, ${more} more`
}
