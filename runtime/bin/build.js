/**
 * Finds and runs what was built of the sources: in a clone the folder `build`, which `tools/build.js` keeps up to date, and in a published
 * package the folder `bundle`. Plain JavaScript without dependencies, because each command loads it.
 */

import { readFileSync, statSync } from 'node:fs'
import { enableCompileCache, registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * @typedef {object} Build
 * @property {string} file the entry to run
 * @property {string | undefined} cache the folder of what Node.js keeps of compiling it
 * @property {ReadonlyMap<string, string>} plugins the plugins' sources and what was built of them, as URLs
 */

/**
 * @param {string} root of the clone
 * @returns {Build | undefined} undefined where no build is up to date
 */
export function findBuild(root) {
  const stamp = readStamp(root)
  if (stamp === undefined || !isFresh(root, stamp)) return undefined
  const url = (...names) => pathToFileURL(path.join(root, ...names)).href
  const plugins = Object.entries(stamp.pluginFiles).map(([source, file]) => [url(source), url('build', file)])
  const folder = path.join(root, 'build')
  return { file: path.join(folder, 'main.js'), cache: path.join(folder, 'cache'), plugins: new Map(plugins) }
}

/**
 * What Node.js compiled is kept beside the bundle by its owner alone: another user, even root, would leave files that the owner cannot
 * remove, and a folder that others can write to would let them choose what runs.
 *
 * @param {string} home the folder of the published package
 * @returns {Build | undefined} undefined where it is none
 */
export function findPublished(home) {
  const folder = path.join(home, 'bundle')
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const isOwner = process.getuid === undefined || process.getuid() === stats.uid
  const cache = isOwner ? path.join(folder, 'cache') : undefined
  return { file: path.join(folder, 'main.js'), cache, plugins: new Map() }
}

/**
 * Runs the entry in this process, which needs Node.js 24.
 *
 * @param {Build} build
 */
export async function runBuild({ file, cache, plugins }) {
  if (plugins.size > 0) servePlugins(plugins)
  if (cache !== undefined) enableCompileCache(cache)
  await import(pathToFileURL(file).href)
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
    // Joining paths properly would take as long again as the rest, and each command does this for 800 files.
    return Object.entries(marks).every(([input, known]) => mark(`${root}/${input}`) === known)
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

/**
 * Importing a plugin's TypeScript would load Node's type stripper, which takes 16 MB for good. The host finds plugins as usual; for those of
 * this repository the built file is read.
 *
 * @param {ReadonlyMap<string, string>} plugins
 */
function servePlugins(plugins) {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const built = plugins.get(resolved.url)
      return built === undefined ? resolved : { ...resolved, url: built, format: 'module' }
    },
  })
}
