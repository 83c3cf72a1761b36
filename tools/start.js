/** Runs the gateway from the bundle, on the folder `local/` unless another is named; a missing `local/` is scaffolded. */

import { enableCompileCache, registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './build.js'

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
  const { file, plugins } = await ensureBuilt(root)
  servePlugins(plugins)
  // Paths that the user gives and is shown are relative to the user's working directory.
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env
  if (script === 'start' && folder) process.chdir(folder)
  const local = path.relative(process.cwd(), path.join(root, 'local', 'reveille.yaml'))
  enableCompileCache(path.join(root, 'build', 'cache'))
  process.argv = [process.execPath, file, 'start', ...startArguments(args, local)]
  await import(pathToFileURL(file).href)
}

/**
 * Importing a plugin's TypeScript would load Node's type stripper, which takes 16 MB for good. The host finds plugins as usual; for those of
 * this repository the built file is read.
 *
 * @param {Map<string, string>} plugins source -> built file, as URLs
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
