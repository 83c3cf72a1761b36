/** Owns where `init` puts what it adds to a configuration that is there. */

import path from 'node:path'
import { loadConfiguration } from '@reveille/engine'
import { presetsFolder } from '../../presets-folder.ts'
import type { Io } from '../io.ts'

/** Absolute. Where the configuration does not load, for another reason, those of the keys' defaults. */
export async function targetFolders(file: string, io: Io): Promise<TargetFolders> {
  const loaded = await loadConfiguration({ file, env: io.env, presets: presetsFolder() })
  if (loaded.ok) return loaded.configuration.settings.hooks
  const folder = path.dirname(file)
  return { mappingsDir: path.join(folder, 'mappings'), transformsDir: path.join(folder, 'transforms') }
}

interface TargetFolders {
  readonly mappingsDir: string
  readonly transformsDir: string
}
