/** Decides which names of endpoints are valid, in `match.path` and in `endpoints`. */

import type { Finding } from '../file/diagnostic.ts'
import type { Path } from '../values/path.ts'

/** Turns `/github`, as OpenClaw's users write it, into `github`. `/` alone stays as it is. */
export function bareName(name: string): string {
  return name.replace(/^\/+|\/+$/g, '') || name
}

/** Returns the mistake in a name, if there is one. The caller decides about `/` alone. */
export function checkEndpointName(name: string, path: Path, at: 'key' | 'value'): Finding[] {
  const [problem, hint] = mistakeIn(name) ?? []
  return problem === undefined ? [] : [{ path, at, code: 'INVALID_PATH', problem, hint }]
}

function mistakeIn(name: string): readonly [problem: string, hint: string] | undefined {
  const bare = name.replace(/^\/+|\/+$/g, '')
  if (bare !== name || bare === '')
    return [
      'is written with a slash at an end',
      bare === ''
        ? 'A name such as `github` is expected.'
        : `Write \`${bare}\`: names have no slash at their ends.`,
    ]
  const segments = name.split('/')
  const parameters = segments.filter((segment) => segment.startsWith(':'))
  if (!parameters.every((parameter) => /^:[A-Za-z_][A-Za-z0-9_]*$/.test(parameter)))
    return [
      'has a parameter without a good name',
      'Write `:` and letters, digits and underscores, no digit first: `:id`.',
    ]
  const twice = parameters.find((parameter, index) => parameters.indexOf(parameter) < index)
  if (twice !== undefined) return [`has two parameters named \`${twice}\``, 'Give each a name of its own.']
  if (segments.some((segment) => ['', '.', '..'].includes(segment)))
    return [
      'has a segment that no request can have',
      /^https?:/.test(name)
        ? 'Write the name alone, as it follows `hooks.path` in the address: `github`.'
        : 'No address leads to `//`, `/./` or `/../`.',
    ]
  return /[?#\p{Cc}]/u.test(name)
    ? ['holds a character that no name has', 'Query strings and fragments are no part of a name.']
    : undefined
}
