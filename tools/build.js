/**
 * Keeps the folder `build` up to date, which `bundle.js` fills. This file is plain JavaScript without dependencies, because each
 * `npm start` loads it.
 */

import { fileURLToPath } from 'node:url'
import { findBuild } from '../runtime/bin/build.js'
import { relay } from '../runtime/bin/relay.js'

const bundler = fileURLToPath(new URL('./bundle.js', import.meta.url))

/** Thrown where the bundler refused the sources, after it said why and where. */
export class BuildFailed extends Error {
  code = 'BUILD_FAILED'
}

/**
 * Builds only when a file that went into the last build has changed. The bundler has a process of its own, because its memory would
 * otherwise stay with the gateway.
 *
 * @param {string} root
 * @returns {Promise<import('../runtime/bin/build.js').Build & { built: boolean }>}
 * @throws {BuildFailed}
 */
export async function ensureBuilt(root) {
  const known = findBuild(root)
  if (known) return { ...known, built: false }
  const { code } = await relay(process.execPath, [bundler, root])
  const made = code === 0 ? findBuild(root) : undefined
  if (!made) throw new BuildFailed('The sources cannot be bundled. Nothing was started.')
  return { ...made, built: true }
}
