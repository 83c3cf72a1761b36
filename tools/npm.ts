/** Calls npm: the one that runs this script, or else the one on the path. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { npmCommand } from './install.js'

/**
 * @returns what npm printed
 * @throws an error with `stdout` and `stderr`, when npm fails
 */
export async function runNpm(
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const { cwd, env = process.env } = options
  const [file, before] = npmCommand(env) as [string, string[]]
  const shell = process.platform === 'win32' && before.length === 0
  const { stdout } = await promisify(execFile)(file, [...before, ...args], { cwd, env, shell })
  return stdout
}
