/** Decides which names of endpoints are valid, in `match.path` and in `endpoints`. */

import type { Finding } from '../file/diagnostic.ts'
import { type Path, writePath } from '../values/path.ts'

/** Turns `/github`, as OpenClaw's users write it, into `github`. `/` alone stays as it is. */
export function bareName(name: string): string {
  return name.replace(/^\/+|\/+$/g, '') || name
}

/** Returns the mistake in a name, if there is one. The caller decides about `/` alone. */
export function checkEndpointName(name: string, path: Path, at: 'key' | 'value'): Finding | undefined {
  const invalid = (problem: string, hint: string): Finding => {
    return { path, at, code: 'INVALID_PATH', message: `\`${writePath(path)}\` ${problem}`, hint }
  }
  const bare = name.replace(/^\/+|\/+$/g, '')
  if (bare === '') return invalid('is written with a slash at an end', 'A name such as `github` is expected.')
  if (bare !== name)
    return invalid(
      'is written with a slash at an end',
      `Write \`${bare}\`: names have no slash at their ends.`,
    )
  const segments = name.split('/')
  const parameters = segments.filter((segment) => segment.startsWith(':'))
  if (!parameters.every((parameter) => /^:[A-Za-z_][A-Za-z0-9_]*$/.test(parameter))) {
    const hint = 'Write `:` and letters, digits and underscores, no digit first: `:id`.'
    return invalid('has a parameter without a good name', hint)
  }
  const twice = parameters.find((parameter, index) => parameters.indexOf(parameter) < index)
  if (twice !== undefined)
    return invalid(`has two parameters named \`${twice}\``, 'Give each a name of its own.')
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) {
    const hint = /^https?:/.test(name)
      ? 'Write the name alone, as it stands behind `hooks.path` in the address: `github`.'
      : 'No address leads to `//`, `/./` or `/../`.'
    return invalid('has a segment that no request can have', hint)
  }
  return /[?#\p{Cc}]/u.test(name)
    ? invalid('holds a character that no name has', 'Query strings and fragments are no part of a name.')
    : undefined
}
