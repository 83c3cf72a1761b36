/** Sets variables in a `.env` file, and keeps its other lines, its owner, its mode and its links. */

import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { replaceFile } from './replace-file.ts'

export function readEnvFile(file: string): Readonly<Record<string, string | undefined>> {
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
}

/**
 * Sets variables, whatever they were, and removes those that are undefined. Other lines stay as they are; a value over several lines is
 * not one that a command has written. A new file gets mode 0600 and the owner of `configFile`.
 */
export async function setInEnvFile(
  file: string,
  variables: Readonly<Record<string, string | undefined>>,
  configFile?: string,
): Promise<void> {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const text = Object.entries(variables).reduce(
    (text, [name, value]) =>
      value === undefined
        ? text.replace(new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=.*(?:\n|$)`, 'gm'), '')
        : withVariable(text, name, quoted(value)),
    before,
  )
  if (text !== before) await replaceFile(file, text, configFile)
}

/** Adds the variable at the end, or where its name has no value. */
function withVariable(text: string, name: string, value: string): string {
  const line = new RegExp(`^([ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=).*$`, 'gm')
  if (line.test(text)) return text.replace(line, (_line, head: string) => `${head}${value}`)
  const gap = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${text}${gap}${name}=${value}\n`
}

/** `#` and white space would end a value without quotes. No kind of quotes can hold all three kinds. */
function quoted(value: string): string {
  if (/^[^\s#'"`\\]*$/.test(value)) return value
  const quote = ["'", '"', '`'].find((each) => !value.includes(each)) ?? "'"
  return `${quote}${value}${quote}`
}
