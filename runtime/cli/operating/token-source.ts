/** Owns the search for where a sender can read the hook token, without ever reading it itself. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { documentOf } from '../../written-document.ts'
import type { TokenSource } from './banner.ts'

const reference = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}$/

/** The environment wins over `.env`, as it does when the configuration is loaded. */
export async function findTokenSource(
  configFile: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<TokenSource> {
  const name = await nameIn(configFile)
  if (name === undefined) return { kind: 'unknown' }
  if (env[name]) return { kind: 'environment', name }
  const file = path.join(path.dirname(configFile), '.env')
  const lines = (await readOrNothing(file)).split('\n')
  // Quoted or exported values read otherwise than the pasted line would read them.
  return lines.some((line) => new RegExp(`^${name}=[\\w.~+/-]+\\r?$`).test(line))
    ? { kind: 'file', file, name }
    : { kind: 'unknown' }
}

/** The variable that `hooks.token`, or the first of several, refers to. */
async function nameIn(configFile: string): Promise<string | undefined> {
  const document = documentOf(await readOrNothing(configFile))
  const token = document.getIn(['hooks', 'token']) ?? undefined
  const first = typeof token === 'string' ? token : document.getIn(['hooks', 'token', 0])
  return typeof first === 'string' ? reference.exec(first)?.[1] : undefined
}

async function readOrNothing(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}
