/** Finds the folder that programs start in, which is not the gateway's, since that holds its configuration and secrets. */

import { mkdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { noFolder } from './errors.ts'

/** Returns the folder once it exists. @throws PluginError `not-found` if a configured one does not */
export type EnsureFolder = () => Promise<string>

/** Without `cwd` programs have a folder of their own, always the same, since they find conversations by their folder. */
export function createEnsureFolder(cwd: string | undefined, environment: NodeJS.ProcessEnv): EnsureFolder {
  if (cwd === undefined) {
    const own = path.join(stateFolder(environment), 'reveille', 'agent')
    return async () => {
      await mkdir(own, { recursive: true, mode: 0o700 }).catch(() => {
        throw noFolder(own)
      })
      return own
    }
  }
  const folder = cwd.startsWith('~/') ? path.join(environment['HOME'] || homedir(), cwd.slice(1)) : cwd
  return async () => {
    const found = await stat(folder).catch(() => undefined)
    if (!found?.isDirectory()) throw noFolder(folder)
    return folder
  }
}

/** Returns the folder for state (https://specifications.freedesktop.org/basedir-spec/latest), or its equivalent on Windows. */
function stateFolder(environment: NodeJS.ProcessEnv): string {
  const named = environment['XDG_STATE_HOME'] ?? environment['LOCALAPPDATA']
  if (named !== undefined && path.isAbsolute(named)) return named
  return path.join(environment['HOME'] || homedir(), '.local', 'state')
}
