/**
 * Reads the files that a mapping or a test names, relative to the naming file. They are watched, and included in the
 * digest.
 */

import { dirname } from 'node:path'
import type { Path } from '../values/path.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type LoadContext, ReadError } from './load-context.ts'
import type { ParsedFile } from './parsed-file.ts'

interface NamedFile {
  /** The absolute path. */
  readonly file: string
  readonly text: string
}

/** Returns the absolute path of a name in `source`. */
export function namedFile(source: Pick<ParsedFile, 'file'>, name: string, context: LoadContext): string {
  return context.resolvePath(name, dirname(source.file))
}

/** Returns undefined for a file that cannot be read, which is reported at `path`. */
export async function readNamedFile(
  name: string,
  { source, path }: { readonly source: ParsedFile; readonly path: Path },
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<NamedFile | undefined> {
  const file = namedFile(source, name, context)
  context.watched.add(file)
  try {
    return { file, text: await context.readText(file) }
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    const problem = `names the file ${name}, which ${error.message}`
    const hint = 'Relative paths start at the folder of the file that names them.'
    diagnostics.report(source, [{ path, code: error.code, problem, hint }])
    return undefined
  }
}
