/** Owns new variables in a `.env` file: what stands there stays as it is, and nobody else may read it. */

import { existsSync, readFileSync } from 'node:fs'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'

export function readEnvFile(file: string): Readonly<Record<string, string | undefined>> {
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
}

/** Those that have a value already stay. The file appears whole, with mode 0600 where it was not there. */
export async function addToEnvFile(file: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const known = parseEnv(before)
  const wanted = Object.entries(variables).filter(([name]) => !known[name])
  if (wanted.length === 0) return
  const text = wanted.reduce((text, [name, value]) => withVariable(text, name, quoted(value)), before)
  const mode = before === '' ? 0o600 : (await stat(file)).mode & 0o777
  const next = `${file}.${process.pid}.next`
  try {
    await writeFile(next, text, { mode })
    await rename(next, file)
  } finally {
    await rm(next, { force: true })
  }
}

/** At the end, or where its name waits for a value. */
function withVariable(text: string, name: string, value: string): string {
  const empty = new RegExp(`^([ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=).*$`, 'gm')
  if (empty.test(text)) return text.replace(empty, (_line, head: string) => `${head}${value}`)
  const gap = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${text}${gap}${name}=${value}\n`
}

/** `#` and white space would end a value that stands alone. No quotes hold all three of them. */
function quoted(value: string): string {
  if (/^[^\s#'"`\\]*$/.test(value)) return value
  const quote = ["'", '"', '`'].find((each) => !value.includes(each)) ?? "'"
  return `${quote}${value}${quote}`
}
