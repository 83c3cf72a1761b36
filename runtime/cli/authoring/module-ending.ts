/** Owns the ending under which Node runs a new TypeScript file as an ES module. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * As the nearest package.json says; one of `npm init` says that files are CommonJS. Without any, Node looks into the
 * file.
 *
 * @param folder absolute
 */
export async function moduleEnding(folder: string): Promise<'ts' | 'mts'> {
  const type = await packageType(folder)
  return type === 'commonjs' ? 'mts' : 'ts'
}

/** What the nearest package.json says of its `type`, from the folder upwards; absolute. */
export async function packageType(folder: string): Promise<unknown> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => undefined)
  const parent = path.dirname(folder)
  if (text === undefined) return parent === folder ? undefined : packageType(parent)
  try {
    return JSON.parse(text)?.type
  } catch {
    return undefined
  }
}
