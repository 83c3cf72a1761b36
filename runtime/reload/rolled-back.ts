/** Owns what a gateway starts with when its files do not load, and an admin had gone back from just these files. */

import { join, resolve } from 'node:path'
import { type Configuration, type LoadOptions, loadConfiguration } from '@reveille/engine'
import { createKeptFiles, openGenerationArchive } from '../generations/index.ts'
import { loadGatewayBlock } from './gateway-block.ts'

/** `filesDigest`: of the files that do not load. Undefined: nothing is to serve in their place. */
export async function loadRolledBack(
  options: LoadOptions,
  filesDigest: string | undefined,
): Promise<Configuration | undefined> {
  const configFile = resolve(options.file)
  const block = await loadGatewayBlock({ file: configFile, env: options.env })
  if (block === undefined) return undefined
  const { dataDir } = block.settings.gateway
  const folder = join(dataDir, 'generations')
  const archive = await openGenerationArchive({ folder, configFile, onDamaged() {}, onFailed() {} })
  const rollback = archive.rollback()
  const kept =
    rollback?.filesDigest === filesDigest && rollback ? await archive.read(rollback.generation) : undefined
  if (kept === undefined) return undefined
  const loaded = await loadConfiguration({ ...options, files: createKeptFiles(kept.sources) })
  // The archive of another data folder knows nothing of this one's numbers.
  const isAtHome = loaded.ok && loaded.configuration.settings.gateway.dataDir === dataDir
  return isAtHome ? loaded.configuration : undefined
}
