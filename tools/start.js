/** Runs the gateway from the sources, on the folder `local/` unless another is named; a missing `local/` is scaffolded. */

import path from 'node:path'
import { ensureConsole } from './console.js'

/**
 * Adds the given arguments to those of `npm start`, unless another configuration is named.
 *
 * @param {readonly string[]} args of `reveille start`
 * @param {string} local the configuration of the clone
 */
export function startArguments(args, local, { REVEILLE_CONFIG: named } = process.env) {
  if (args.some((arg) => /^--config(=|$)/.test(arg))) return args
  const others = args.filter((arg) => arg !== '--init')
  return named ? ['--init', ...others] : ['--init', '--config', local, ...others]
}

/**
 * @param {string} root
 * @param {readonly string[]} args of `reveille start`
 */
export async function start(root, args) {
  await ensureConsole(root)
  // Paths that the user gives and is shown are relative to the user's working directory.
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env
  if (script === 'start' && folder) process.chdir(folder)
  const local = path.relative(process.cwd(), path.join(root, 'local', 'reveille.yaml'))
  const command = path.join(root, 'runtime', 'bin', 'reveille.js')
  process.argv = [process.execPath, command, 'start', ...startArguments(args, local)]
  await import('../runtime/bin/reveille.js')
}
