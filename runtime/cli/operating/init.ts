/** `reveille init`: scaffolds a configuration. */

import path from 'node:path'
import { packageFile } from '../../package-folder.ts'
import { scaffold } from '../../scaffold/scaffold.ts'
import { configWords } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { programName } from '../pasted.ts'

export async function init(folder: string, options: CommandOptions, io: Io): Promise<number> {
  const written = await scaffoldInto(path.resolve(io.cwd, folder))
  if (options.json) io.out(`${JSON.stringify({ folder, written })}\n`)
  else if (written.length === 0)
    io.out(`${path.join(folder, 'reveille.yaml')} is there; nothing was written.\n`)
  else {
    io.out(written.map((file) => `wrote ${path.join(folder, file)}\n`).join(''))
    io.out(`\nStart it: ${programName(io)} start${configWords(path.join(folder, 'reveille.yaml'), io)}\n`)
  }
  return 0
}

/** @returns the files that were written, relative to the folder; none where there is a configuration */
export async function scaffoldInto(folder: string): Promise<readonly string[]> {
  const { written } = await scaffold({ folder, template: packageFile('scaffold', 'template') })
  return written
}
