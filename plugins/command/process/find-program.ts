/** Finds a program as the system does when it starts one. */

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import type { PluginError } from '@reveille/kit'
import { notStarted } from '../errors.ts'

export interface Lookup {
  /** The variable PATH of the program. */
  readonly path: string | undefined
  /** The folder that it starts in, which a name with a slash is relative to. Absolute. */
  readonly cwd: string
}

/** Resolves with the error of a start that would fail for want of the program, or with undefined. Not for Windows. */
export async function missingProgram(
  command: string,
  { path: folders, cwd }: Lookup,
): Promise<PluginError | undefined> {
  const places = command.includes('/')
    ? [path.resolve(cwd, command)]
    : (folders ?? '').split(path.delimiter).map((folder) => path.resolve(cwd, folder, command))
  let found: NodeJS.ErrnoException = Object.assign(new Error(), { code: 'ENOENT' })
  for (const place of places) {
    try {
      await access(place, constants.X_OK)
      return undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') found = error as NodeJS.ErrnoException
    }
  }
  return notStarted(command, found, folders)
}
