/**
 * Reads the files that a mapping or a test names, relative to the naming file. They are watched, and included in the
 * digest.
 */

import { dirname } from 'node:path'
import { type Path, writePath } from '../values/path.ts'
import type { Findings } from './diagnostics.ts'
import { type LoadContext, ReadError } from './load-context.ts'
import type { ParsedFile } from './parsed-file.ts'

interface NamedFile {
  /** The absolute path. */
  readonly file: string
  readonly text: string
}

/** Returns the absolute path of a name in `source`. */
export function namedFile(source: ParsedFile, name: string, context: LoadContext): string {
  return context.resolvePath(name, dirname(source.file))
}

/** Returns undefined for a file that cannot be read, which is reported at `path`. */
export async function readNamedFile(
  name: string,
  { source, path }: { readonly source: ParsedFile; readonly path: Path },
  context: LoadContext,
  findings: Findings,
): Promise<NamedFile | undefined> {
  const file = namedFile(source, name, context)
  context.watch(file)
  try {
    return { file, text: await context.readText(file) }
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    const message = `\`${writePath(path)}\` names the file ${name}, which ${error.message}`
    const hint = 'Relative paths start at the folder of the file that names them.'
    findings.report(source, { path, code: error.code, message, hint })
    return undefined
  }
}
