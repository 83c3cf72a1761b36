/**
 * Owns whether the folder `build` is up to date; `bundle.js` fills it. Plain JavaScript without dependencies, because
 * `npm start` passes here each time.
 */

import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { relay } from '../runtime/bin/relay.js'

const bundler = fileURLToPath(new URL('./bundle.js', import.meta.url))

/** The bundler refused the sources; it has already said why and where. */
export class BuildFailed extends Error {
  code = 'BUILD_FAILED'
}

/**
 * Builds only when a file that went into the last build has changed. The bundler gets a process of its own: what it
 * takes of memory would otherwise stay with the gateway.
 *
 * @param {string} root
 * @returns {Promise<{ file: string, built: boolean }>} the entry to run
 * @throws {BuildFailed}
 */
export async function ensureBuilt(root) {
  const file = path.join(root, 'build', 'main.js')
  if (isFresh(root)) return { file, built: false }
  const { code } = await relay(process.execPath, [bundler, root])
  if (code !== 0) throw new BuildFailed('The sources can not be bundled. Nothing was started.')
  return { file, built: true }
}

/** @param {string} root */
export function stampFile(root) {
  return path.join(root, 'build', 'stamp.json')
}

/**
 * What tells one state of a file from another, cheaply. A file changed after `before` may have been read before it
 * changed: its mark is like no other.
 *
 * @param {string} file
 * @param {number} [before] milliseconds since the Unix epoch
 */
export function mark(file, before = Number.POSITIVE_INFINITY) {
  const { size, mtimeMs } = statSync(file)
  return mtimeMs < before ? `${size}:${mtimeMs}` : ''
}

function isFresh(root) {
  try {
    const marks = JSON.parse(readFileSync(stampFile(root), 'utf8'))
    return Object.entries(marks).every(([input, known]) => mark(path.join(root, input)) === known)
  } catch {
    return false
  }
}
