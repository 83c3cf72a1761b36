/** Runs the gateway from the bundle; without arguments on `local/`, which is scaffolded when it is not there. */

import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './build.js'

/**
 * @param {string} root
 * @param {readonly string[]} args of `reveille start`
 */
export async function start(root, args) {
  const { file } = await ensureBuilt(root)
  // Paths that the user gives, and those that the user is shown to paste, start where the user stands.
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env
  if (script === 'start' && folder) process.chdir(folder)
  const local = path.relative(process.cwd(), path.join(root, 'local', 'reveille.yaml'))
  enableCompileCache(path.join(root, 'build', 'cache'))
  process.argv = [
    process.execPath,
    file,
    'start',
    ...(args.length > 0 ? args : ['--init', '--config', local]),
  ]
  await import(pathToFileURL(file).href)
}
