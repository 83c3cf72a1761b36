/**
 * Keeps the folder `build` up to date, which `bundle.js` fills. This file is plain JavaScript without dependencies, because each
 * `npm start` loads it.
 */

import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
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
 * @returns {Promise<{ file: string, built: boolean, plugins: Map<string, string> }>} the entry to run; the plugins'
 *   sources and what was built of them, as URLs
 * @throws {BuildFailed}
 */
export async function ensureBuilt(root) {
  const known = readStamp(root)
  if (known && isFresh(root, known)) return result(root, known, false)
  const { code } = await relay(process.execPath, [bundler, root])
  const made = code === 0 ? readStamp(root) : undefined
  if (!made) throw new BuildFailed('The sources cannot be bundled. Nothing was started.')
  return result(root, made, true)
}

function result(root, { pluginFiles }, built) {
  const url = (...names) => pathToFileURL(path.join(root, ...names)).href
  const plugins = Object.entries(pluginFiles).map(([source, file]) => [url(source), url('build', file)])
  return { file: path.join(root, 'build', 'main.js'), built, plugins: new Map(plugins) }
}

/** @param {string} root */
export function stampFile(root) {
  return path.join(root, 'build', 'stamp.json')
}

/**
 * Identifies the state of a file cheaply. A file that changed after `before` may have been read before the change, and has an empty mark,
 * which is never up to date.
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
