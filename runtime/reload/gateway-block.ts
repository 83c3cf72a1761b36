/** Reads the block `gateway:` of a configuration in which something else may be broken. */

import { readFile } from 'node:fs/promises'
import { type Configuration, type LoadOptions, loadConfiguration } from '@reveille/engine'
import { createKeptFiles } from '../generations/index.ts'
import { contentOf, documentOf } from '../written-document.ts'

/** `file` is absolute. Resolves with undefined if the block cannot be used either. */
export async function loadGatewayBlock({
  file,
  env,
}: Pick<LoadOptions, 'file' | 'env'>): Promise<Pick<Configuration, 'settings'> | undefined> {
  const gateway = await blockOf(file)
  if (gateway === undefined) return undefined
  // The block is loaded as if the file held nothing else; its references are resolved as usual.
  const files = createKeptFiles(new Map([[file, JSON.stringify({ gateway })]]))
  const loaded = await loadConfiguration({ file, env, files })
  return loaded.ok ? loaded.configuration : undefined
}

/** Reads the block as far as possible: what is broken may be below it. */
async function blockOf(file: string): Promise<unknown> {
  try {
    const { gateway } = contentOf(documentOf(await readFile(file, 'utf8'))) as { gateway?: unknown }
    return typeof gateway === 'object' && gateway !== null ? gateway : undefined
  } catch {
    return undefined
  }
}
