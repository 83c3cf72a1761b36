/**
 * Owns where a configuration has its gateway, also while something else in it is broken: an admin who reloads or goes
 * back wants to hear what the running gateway says of it.
 */

import { readFile } from 'node:fs/promises'
import { type Configuration, loadConfiguration } from '@reveille/engine'
import { parseDocument } from 'yaml'
import { createKeptFiles } from '../../generations/index.ts'
import { findConfiguration, loadOrFail } from '../configuration.ts'
import type { Io } from '../io.ts'

/** @throws CommandFailure with all that is wrong, where the block `gateway:` cannot be used either */
export async function loadGatewaySettings(
  options: { readonly config?: string },
  io: Io,
): Promise<Pick<Configuration, 'settings'>> {
  try {
    return await loadOrFail(options, io)
  } catch (failure) {
    const file = findConfiguration(options, io)
    const gateway = await gatewayBlockOf(file)
    if (gateway === undefined) throw failure
    // As if the file held nothing else; what the block refers to is looked up where it always is.
    const files = createKeptFiles(new Map([[file, JSON.stringify({ gateway })]]))
    const loaded = await loadConfiguration({ file, env: io.env, files })
    if (!loaded.ok) throw failure
    return loaded.configuration
  }
}

/** As far as it can be read: what is broken may stand below it. */
async function gatewayBlockOf(file: string): Promise<unknown> {
  try {
    const document = parseDocument(await readFile(file, 'utf8'), { logLevel: 'silent' })
    const { gateway } = document.toJS({ maxAliasCount: 100 }) as { gateway?: unknown }
    return typeof gateway === 'object' && gateway !== null ? gateway : undefined
  } catch {
    return undefined
  }
}
