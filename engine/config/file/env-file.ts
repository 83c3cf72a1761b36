/** Reads `.env`. */

import { parseEnv } from 'node:util'

/** One variable; a value in quotes may have several lines. */
const variable = /^([ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=)(?:[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)|([^\r\n]*))/gm

/**
 * Reads `.env` as Node.js does, except that `#` begins a comment only behind white space, as Compose and most loaders
 * have it: Node.js would cut `p4ss#word`.
 */
export function readEnvFile(text: string): Record<string, string | undefined> {
  return parseEnv(
    text.replace(variable, (all, name: string, unquoted?: string) => {
      if (!unquoted?.includes('#')) return all
      const value = unquoted.replace(/\s#.*$/, '').trim()
      const quote = ['"', "'", '`'].find(
        (each) => !value.includes(each) && !(each === '"' && value.includes('\\')),
      )
      return quote === undefined ? all : `${name}${quote}${value}${quote}`
    }),
  ) as Record<string, string | undefined>
}
