/** Owns the header `Prefer` (RFC 7240): of all preferences there are, `wait` is the one that is honoured. */

/** Whoever asks for more is given this. Seconds. */
const mostWaitSeconds = 300

/**
 * How long a sender would wait for the outcome, in whole seconds: 1 to 300. Undefined where it does not say, or says
 * something that is no number of seconds; a preference is a wish, so nonsense is none.
 */
export function waitSecondsOf(prefer: string | readonly string[] | undefined): number | undefined {
  const text = typeof prefer === 'string' ? prefer : prefer?.join(',')
  // Of a preference that stands there twice, the first counts.
  const wait = splitUnquoted(text ?? '', ',')
    .map(preferenceOf)
    .find(({ name }) => name === 'wait')
  if (wait === undefined || !/^\d+$/.test(wait.value)) return undefined
  const seconds = Math.min(Number(wait.value), mostWaitSeconds)
  return seconds === 0 ? undefined : seconds
}

/** `name`, or `name=value`, then parameters behind semicolons, which `wait` has none of. */
function preferenceOf(text: string): { readonly name: string; readonly value: string } {
  const [preference = ''] = splitUnquoted(text, ';')
  const [name = '', ...value] = preference.split('=')
  return { name: name.trim().toLowerCase(), value: withoutQuotes(value.join('=').trim()) }
}

/** What stands in quotes holds no separator. */
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
