/** Owns what a configuration says of its gateway while something else in it is broken: where it is, what it keeps. */

import { readFile } from 'node:fs/promises'
import { type Configuration, type LoadOptions, loadConfiguration } from '@reveille/engine'
import { createKeptFiles } from '../generations/index.ts'
import { contentOf, documentOf } from '../written-document.ts'

/** Undefined where the block `gateway:` cannot be used either. `file`: absolute. */
export async function loadGatewayBlock({
  file,
  env,
}: Pick<LoadOptions, 'file' | 'env'>): Promise<Pick<Configuration, 'settings'> | undefined> {
  const gateway = await blockOf(file)
  if (gateway === undefined) return undefined
  // As if the file held nothing else; what the block refers to is looked up where it always is.
  const files = createKeptFiles(new Map([[file, JSON.stringify({ gateway })]]))
  const loaded = await loadConfiguration({ file, env, files })
  return loaded.ok ? loaded.configuration : undefined
}

/** As far as it can be read: what is broken may stand below it. */
async function blockOf(file: string): Promise<unknown> {
  try {
    const { gateway } = contentOf(documentOf(await readFile(file, 'utf8'))) as { gateway?: unknown }
    return typeof gateway === 'object' && gateway !== null ? gateway : undefined
  } catch {
    return undefined
  }
}
