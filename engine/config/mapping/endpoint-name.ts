/** Decides which names of endpoints are valid, in `match.path` and in `endpoints`. */

import type { Finding } from '../diagnostic/diagnostic.ts'
import { type Path, writePath } from '../path.ts'

/** Turns `/github`, as OpenClaw's users write it, into `github`. `/` alone stays as it is. */
export function bareName(name: string): string {
  return name.replace(/^\/+|\/+$/g, '') || name
}

/** Returns the mistake in a name, if there is one. The caller decides about `/` alone. */
export function checkEndpointName(name: string, path: Path, at: 'key' | 'value'): Finding | undefined {
  const where = `\`${writePath(path)}\``
  const bare = name.replace(/^\/+|\/+$/g, '')
  if (bare !== name || bare === '') {
    const hint =
      bare === ''
        ? 'A name such as `github` is expected.'
        : `Write \`${bare}\`: names have no slash at their ends.`
    return { path, at, code: 'INVALID_PATH', message: `${where} is written with a slash at an end`, hint }
  }
  const segments = name.split('/')
  const parameters = segments.filter((segment) => segment.startsWith(':'))
  const odd = parameters.find((parameter) => !/^:[A-Za-z_][A-Za-z0-9_]*$/.test(parameter))
  if (odd !== undefined) {
    const hint = 'Write `:` and letters, digits and underscores, no digit first: `:id`.'
    const message = `${where} has a parameter without a good name`
    return { path, at, code: 'INVALID_PATH', message, hint }
  }
  const twice = parameters.find((parameter, index) => parameters.indexOf(parameter) < index)
  if (twice !== undefined) {
    const message = `${where} has two parameters named \`${twice}\``
    return { path, at, code: 'INVALID_PATH', message, hint: 'Give each a name of its own.' }
  }
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    const hint = /^https?:/.test(name)
      ? 'Write the name alone, as it stands behind `hooks.path` in the address: `github`.'
      : 'No address leads to `//`, `/./` or `/../`.'
    return {
      path,
      at,
      code: 'INVALID_PATH',
      message: `${where} has a segment that no request can have`,
      hint,
    }
  }
  if (/[?#\p{Cc}]/u.test(name)) {
    const hint = 'Query strings and fragments are no part of a name.'
    return { path, at, code: 'INVALID_PATH', message: `${where} holds a character that no name has`, hint }
  }
  return undefined
}
