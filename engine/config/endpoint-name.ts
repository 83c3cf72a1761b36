/** Owns what may be written as an endpoint's name, in `match.path` and in `endpoints`. */

import { type Path, writePath } from './path.ts'
import type { Finding } from './violation.ts'

/** What is wrong with a name, if anything; `/` alone is the caller's affair. */
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
  if (segments.some((segment) => segment.startsWith(':'))) {
    const hint = 'Write the whole name; parameters come with a later version.'
    return {
      path,
      at,
      code: 'NOT_YET_SUPPORTED',
      message: `${where} has a parameter, which is not supported yet`,
      hint,
    }
  }
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    const hint = 'No address leads to `//`, `/./` or `/../`.'
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
