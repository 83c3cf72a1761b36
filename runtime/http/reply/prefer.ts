/** Reads `wait` from the header `Prefer` (RFC 7240); other preferences are ignored. */

/** A longer wait is shortened to this. Seconds. */
const maxWaitSeconds = 300

/**
 * waitSecondsOf returns how long a sender would wait for the outcome, in whole seconds from 1 to 300. It returns undefined where
 * the sender gives no number of seconds: a server may ignore a preference that it does not understand.
 */
export function waitSecondsOf(prefer: string | readonly string[] | undefined): number | undefined {
  const text = typeof prefer === 'string' ? prefer : prefer?.join(',')
  // If a preference is given twice, the first one counts.
  const wait = splitUnquoted(text ?? '', ',')
    .map(preferenceOf)
    .find(({ name }) => name === 'wait')
  if (wait === undefined || !/^\d+$/.test(wait.value)) return undefined
  const seconds = Math.min(Number(wait.value), maxWaitSeconds)
  return seconds === 0 ? undefined : seconds
}

/** A preference is `name` or `name=value`, then parameters after semicolons, of which `wait` has none. */
function preferenceOf(text: string): { readonly name: string; readonly value: string } {
  const [preference = ''] = splitUnquoted(text, ';')
  const [name = '', ...value] = preference.split('=')
  return { name: name.trim().toLowerCase(), value: withoutQuotes(value.join('=').trim()) }
}

/** A separator between quotes does not count. */
function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    if (isQuoted && text[at] === '\\') at += 1
    else if (text[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && text[at] === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)]
}

function withoutQuotes(value: string): string {
  return /^".*"$/.test(value) ? value.slice(1, -1) : value
}
