/** Reads the files of `mappingsDir`, except those that another file names as a schema or a body. */

import type { Diagnostic } from './file/diagnostic.ts'
import type { Diagnostics } from './file/diagnostics.ts'
import { inParallel, type LoadContext, ReadError } from './file/load-context.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import { startOf } from './file/places.ts'
import { type CheckedFile, checkSource, namedFile, parseFile, unreadable } from './schema/checked-file.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'
import { type MappingFileValue, mappingFileSchema } from './schema/mapping-schema.ts'
import { isRecord } from './values/is-record.ts'
import { editDistance } from './values/nearest.ts'
import { type Path, valueAt } from './values/path.ts'

const key = ['hooks', 'mappingsDir']

/** Returns the files in the order of their relative paths. */
export async function loadMappingFiles(
  main: CheckedFile<ConfigurationValue> | undefined,
  mainFile: string,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<CheckedFile<MappingFileValue>[]> {
  if (!main || !diagnostics.isSound(main.source, key)) return []
  const names = (await listFiles(main, context, diagnostics)).filter((file) => file !== mainFile)
  const files = await parseFiles(names, context)
  const named = new Set([
    ...namesIn(main.source, ['hooks'], context),
    ...files.flatMap(({ source }) => (source ? namesIn(source, [], context) : [])),
  ])
  const checked: CheckedFile<MappingFileValue>[] = []
  for (const { file, source, problems } of files) {
    const { value = undefined } = source ?? {}
    // A file of mappings that is named by mistake is refused as a schema or body, instead of being dropped silently.
    if (named.has(file) && !Array.isArray(valueAt(value, ['mappings']))) continue
    diagnostics.add(...problems)
    if (source === undefined) continue
    if (isOtherFile(value)) diagnostics.add({ severity: 'warning', ...notAMappingFile, place: startOf(file) })
    else {
      const good = await checkSource<MappingFileValue>(mappingFileSchema, source, context, diagnostics)
      if (good) checked.push(good)
    }
  }
  return checked
}

/** Reads and parses all files, and returns them in the given order. */
async function parseFiles(names: readonly string[], context: LoadContext) {
  const texts = await inParallel(names, (file) =>
    context.readText(file).catch((error: unknown) => [unreadable(file, error)]),
  )
  const files = []
  for (const [index, text] of texts.entries()) {
    const file = names[index] ?? ''
    if (typeof text !== 'string') files.push({ file, problems: text })
    else if (text.trim() === '') files.push({ file, problems: [emptyMappingFile(file)] })
    else files.push({ file, problems: [], ...(await parseFile({ kind: 'mappings', file, text }, context)) })
  }
  return files as { file: string; source?: ParsedFile; problems: readonly Diagnostic[] }[]
}

function emptyMappingFile(file: string): Diagnostic {
  const hint =
    'Delete it, or write `endpoints:`, `mappings:` or `tests:`. If an editor is still saving it, the next save is loaded automatically.'
  const message = 'The mapping file is empty'
  return { severity: 'error', code: 'FILE_EMPTY', message, place: startOf(file), hint }
}

const notAMappingFile = {
  code: 'NOT_A_MAPPING_FILE',
  message:
    'The file has none of `endpoints`, `mappings` and `tests`, and no mapping or test names it: it is ignored',
  hint: 'Delete it, or keep it outside of `mappingsDir`.',
}

const mappingKeys = ['endpoints', 'mappings', 'tests']
/** Keys of the gateway's own files, if at the wrong level. */
const misplacedKeys = ['match', 'hooks', 'gateway']
const keysOfMappings = ['match', 'message', 'action']

/** True if it is a schema or a body that nothing names any longer. A misspelt mapping file is refused instead. */
function isOtherFile(root: unknown): boolean {
  if (Array.isArray(root)) {
    return !root.some((item) => isRecord(item) && keysOfMappings.some((key) => key in item))
  }
  if (!isRecord(root) || Object.keys(root).length === 0) return false
  return !Object.keys(root).some((key) => misplacedKeys.includes(key) || mappingKeys.some(resembles(key)))
}

function resembles(key: string): (known: string) => boolean {
  return (known) => editDistance(key.toLowerCase(), known, 3) <= (known.length > 5 ? 2 : 1)
}

async function listFiles(
  main: CheckedFile<ConfigurationValue>,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<string[]> {
  const folder = context.resolvePath(main.value.hooks.mappingsDir)
  context.watched.add(folder)
  try {
    return await context.listMappings(folder)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    // Only the default folder may be missing. A configured one that is gone is a mistake, or a checkout is under way.
    const isWritten = (valueAt(main.source.value, key) ?? null) !== null
    if (error.code !== 'FILE_NOT_FOUND' || isWritten) {
      const message = `The folder of mapping files, ${folder}, ${error.message}`
      const hint = 'Relative paths start at the configuration.'
      diagnostics.report(main.source, [{ path: key, code: error.code, message, hint }])
    }
    return []
  }
}

/** Returns the absolute paths of the files that a file's mappings and tests name. Nothing is checked at this point. */
function namesIn({ value, ...source }: ParsedFile, above: Path, context: LoadContext): string[] {
  const at = (list: string, path: Path) => {
    const items = valueAt(value, [...above, list])
    return Array.isArray(items) ? items.map((item) => valueAt(item, path)) : []
  }
  const names = [...at('mappings', ['schema']), ...at('tests', ['request', 'bodyFile'])]
  return names.flatMap((name) => (typeof name === 'string' ? namedFile(source, name, context) : []))
}
