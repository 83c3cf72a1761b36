/** Runs the gateway from the bundle; without arguments on `local/`, which is scaffolded when it is not there. */

import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './build.js'

/** @param {string} root @param {readonly string[]} args */
export async function start(root, args) {
  const { file } = await ensureBuilt(root)
  enableCompileCache(path.join(root, 'build', 'cache'))
  process.argv = [
    process.execPath,
    file,
    'start',
    ...(args.length > 0 ? args : ['--init', '--config', 'local/reveille.yaml']),
  ]
  await import(pathToFileURL(file).href)
}
