/** `reveille schema`: prints the JSON Schemas that editors read. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packageFile } from '../../package-folder.ts'
import { shownPath } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { print } from '../print.ts'

type SchemaName = 'configuration' | 'mappings'

export async function schema(
  which: SchemaName = 'configuration',
  io: Io,
  options: CommandOptions,
): Promise<number> {
  const text = await readFile(packageFile('schemas', `${which}.json`), 'utf8')
  if (options.out === undefined) {
    io.out(text)
    return 0
  }
  const target = path.resolve(io.cwd, options.out)
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, text)
  const file = shownPath(target, io)
  return print(io, { file }, () => `wrote ${file}\n\n${advice(which, target, io)}`)
}

function advice(name: SchemaName, target: string, io: Io): string {
  const [reader, folder] =
    name === 'mappings' ? ['a file in mappings/', 'mappings'] : ['reveille.yaml here', '.']
  const address = path.relative(path.resolve(io.cwd, folder), target).replaceAll('\\', '/')
  return `Put this in the first line of ${reader}, so that editors check and complete it:\n# yaml-language-server: $schema=${address}\n`
}
