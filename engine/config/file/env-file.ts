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

/** A line of `.env` that sets nothing, or not what it seems to. */
interface EnvFault {
  /** From 1. */
  readonly line: number
  readonly code: 'ENV_LINE' | 'ENV_QUOTE'
}

const quoted = /^[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)[^\r\n]*/gm

export function faultsOfEnvFile(text: string): readonly EnvFault[] {
  // A value in quotes may have lines that look like anything.
  const lines = text.replace(quoted, (value) => value.replace(/[^\n]/g, '')).split('\n')
  return lines.flatMap((written, index): EnvFault[] => {
    const line = written.replace(/^\ufeff/, '').trim()
    if (line === '' || line.startsWith('#')) return []
    const value = /^(?:export\s+)?[\w.-]+\s*=\s*(.*)$/.exec(line)?.[1]
    if (value === undefined) return [{ line: index + 1, code: 'ENV_LINE' }]
    return /^["'`]/.test(value) ? [{ line: index + 1, code: 'ENV_QUOTE' }] : []
  })
}
