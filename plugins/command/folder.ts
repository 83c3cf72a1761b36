/** Owns where programs start. Not where the gateway does: there lie its configuration and its secrets. */

import { mkdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { noFolder } from './failure.ts'

/** The folder, which is there. @throws PluginError `not-found` when a configured one is not */
export type EnsureFolder = () => Promise<string>

/** Without `cwd`: one of its own, always the same, since programs find conversations by the folder they began in. */
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

/** https://specifications.freedesktop.org/basedir-spec/latest, and its like on Windows. */
function stateFolder(environment: NodeJS.ProcessEnv): string {
  const named = environment['XDG_STATE_HOME'] ?? environment['LOCALAPPDATA']
  if (named !== undefined && path.isAbsolute(named)) return named
  return path.join(environment['HOME'] || homedir(), '.local', 'state')
}
