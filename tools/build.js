/**
 * Owns whether the folder `build` is up to date; `bundle.js` fills it. Plain JavaScript without dependencies, because
 * `npm start` passes here each time.
 */

import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
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
 * @returns {Promise<{ file: string, built: boolean, plugins: Map<string, string> }>} the entry to run; the plugins'
 *   sources and what was built of them, as URLs
 * @throws {BuildFailed}
 */
export async function ensureBuilt(root) {
  const known = readStamp(root)
  if (known && isFresh(root, known)) return answer(root, known, false)
  const { code } = await relay(process.execPath, [bundler, root])
  const made = code === 0 ? readStamp(root) : undefined
  if (!made) throw new BuildFailed('The sources cannot be bundled. Nothing was started.')
  return answer(root, made, true)
}

function answer(root, { pluginFiles }, built) {
  const url = (...names) => pathToFileURL(path.join(root, ...names)).href
  const plugins = Object.entries(pluginFiles).map(([source, file]) => [url(source), url('build', file)])
  return { file: path.join(root, 'build', 'main.js'), built, plugins: new Map(plugins) }
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

function isFresh(root, { marks }) {
  try {
    return Object.entries(marks).every(([input, known]) => mark(path.join(root, input)) === known)
  } catch {
    return false
  }
}

function readStamp(root) {
  try {
    return JSON.parse(readFileSync(stampFile(root), 'utf8'))
  } catch {
    return undefined
  }
}
