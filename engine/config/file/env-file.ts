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

/** The line is not shown, because it may hold a secret. */
const faults = {
  noVariable: {
    code: 'ENV_LINE',
    message: 'The line sets no variable',
    hint: 'Write `NAME=value`, or `#` before a comment.',
  },
  openQuote: {
    code: 'ENV_QUOTE',
    message: 'The quote before the value is never closed, so it is part of the value',
    hint: 'Close it, or remove it.',
  },
}

const quoted = /^[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)[^\r\n]*/gm

/** Returns the lines, from 1, that set nothing, or not what it seems. */
export function faultsOfEnvFile(text: string) {
  // A value in quotes may have lines that look like anything.
  const lines = text.replace(quoted, (value) => value.replace(/[^\n]/g, '')).split('\n')
  return lines.flatMap((written, index) => {
    const line = written.replace(/^\ufeff/, '').trim()
    if (line === '' || line.startsWith('#')) return []
    const value = /^(?:export\s+)?[\w.-]+\s*=\s*(.*)$/.exec(line)?.[1]
    if (value === undefined) return [{ line: index + 1, ...faults.noVariable }]
    return /^["'`]/.test(value) ? [{ line: index + 1, ...faults.openQuote }] : []
  })
}
