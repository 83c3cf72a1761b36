/** Runs the gateway from the bundle; on `local/`, which is scaffolded when it is not there, unless another is named. */

import { enableCompileCache, registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './build.js'

/**
 * What is given is added to what `npm start` stands for, unless another configuration is named.
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
  // Paths that the user gives, and those that the user is shown to paste, start where the user stands.
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env
  if (script === 'start' && folder) process.chdir(folder)
  const local = path.relative(process.cwd(), path.join(root, 'local', 'reveille.yaml'))
  enableCompileCache(path.join(root, 'build', 'cache'))
  process.argv = [process.execPath, file, 'start', ...startArguments(args, local)]
  await import(pathToFileURL(file).href)
}

/**
 * Importing a plugin's TypeScript would load Node's type stripper: 16 MB that stay. The host finds plugins as ever;
 * only what is read for those of this repository is the built file.
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
