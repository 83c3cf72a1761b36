/** Reads the files of `mappingsDir`, except those that another file names as a schema or a body. */

import type { Findings } from './file/diagnostics.ts'
import { inParallel, type LoadContext, ReadError } from './file/load-context.ts'
import { namedFile } from './file/named-file.ts'
import { listAt, type ParsedFile } from './file/parsed-file.ts'
import { startOf } from './file/places.ts'
import { type CheckedFile, checkSource, type Parsed, parseFile, unreadable } from './schema/checked-file.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'
import { type MappingFileValue, mappingFileShape } from './schema/mapping-schema.ts'
import { isRecord } from './values/is-record.ts'
import { editDistance } from './values/nearest.ts'
import { type Path, valueAt } from './values/path.ts'

const key = ['hooks', 'mappingsDir']

/** Returns the files in the order of their relative paths. */
export async function loadMappingFiles(
  main: CheckedFile<ConfigurationValue> | undefined,
  mainFile: string,
  context: LoadContext,
  findings: Findings,
): Promise<CheckedFile<MappingFileValue>[]> {
  if (!main || !findings.isSound(main.source, key)) return []
  const names = (await listFiles(main, context, findings)).filter((file) => file !== mainFile)
  const files = await parseFiles(main.source, await readTexts(names, context, findings), context)
  const checked: CheckedFile<MappingFileValue>[] = []
  for (const { file, text, parsed } of files) {
    if (text.trim() === '') findings.add({ severity: 'error', ...emptyMappingFile, place: startOf(file) })
    else if ('problems' in parsed) findings.add(...parsed.problems)
    else if (isOtherFile(parsed.source.value)) {
      findings.add({ severity: 'warning', ...notAMappingFile, place: startOf(file) })
    } else {
      const good = await checkSource<MappingFileValue>(mappingFileShape, parsed.source, context, findings)
      if (good) checked.push(good)
    }
  }
  return checked
}

interface TextFile {
  readonly file: string
  readonly text: string
}

async function readTexts(
  files: readonly string[],
  context: LoadContext,
  findings: Findings,
): Promise<TextFile[]> {
  const read = await inParallel(files, (file) =>
    context.readText(file).catch((error: unknown) => ({ error })),
  )
  // Errors are reported in the order of the files, not in that of reading.
  return read.flatMap((text, index) => {
    const file = files[index] ?? ''
    if (typeof text === 'string') return { file, text }
    findings.add(unreadable(file, text.error))
    return []
  })
}

type ParsedText = TextFile & { readonly parsed: Parsed }

/** Parses all files except those that another file names as its schema or body. */
async function parseFiles(
  main: ParsedFile,
  texts: readonly TextFile[],
  context: LoadContext,
): Promise<ParsedText[]> {
  const parse = ({ file, text }: TextFile) => parseFile({ kind: 'mappings', file, text }, context)
  const parsed = new Map<TextFile, Parsed>()
  // Files that name others have a list of mappings or tests.
  for (const one of texts) if (/mappings|tests/.test(one.text)) parsed.set(one, await parse(one))
  const sources = [...parsed.values()].flatMap((file) => ('source' in file ? file.source : []))
  const named = new Set([
    ...namesIn(main, ['hooks'], context),
    ...sources.flatMap((source) => namesIn(source, [], context)),
  ])
  const kept: ParsedText[] = []
  for (const one of texts) {
    const known = parsed.get(one)
    // A file of mappings that is named by mistake is refused as a schema or body, instead of being dropped silently.
    const hasMappings = known && 'source' in known && listAt(known.source.value, ['mappings']) !== undefined
    if (hasMappings || !named.has(one.file)) kept.push({ ...one, parsed: known ?? (await parse(one)) })
  }
  return kept
}

const emptyMappingFile = {
  code: 'FILE_EMPTY',
  message: 'The mapping file is empty',
  hint: 'Delete it, or write `endpoints:`, `mappings:` or `tests:`. If an editor is still saving it, the next save is loaded automatically.',
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

/** Whether it is a schema or a body that nothing names any longer. A misspelt mapping file is refused instead. */
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
  findings: Findings,
): Promise<string[]> {
  const folder = context.resolvePath(main.value.hooks.mappingsDir)
  context.watch(folder)
  try {
    return await context.listMappings(folder)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    // Only the default folder may be missing. A configured one that is gone is a mistake, or a checkout is under way.
    if (error.code !== 'FILE_NOT_FOUND' || isWritten(main.source)) {
      const message = `The folder of mapping files, ${folder}, ${error.message}`
      const hint = 'Relative paths start at the configuration.'
      findings.report(main.source, { path: key, code: error.code, message, hint })
    }
    return []
  }
}

function isWritten(source: ParsedFile): boolean {
  return (valueAt(source.value, key) ?? null) !== null
}

/** Returns the absolute paths of the files that a file's mappings and tests name. Nothing is checked at this point. */
function namesIn(source: ParsedFile, above: Path, context: LoadContext): string[] {
  const at = (list: string, path: Path) =>
    (listAt(source.value, [...above, list]) ?? []).map((item) => valueAt(item, path))
  const names = [...at('mappings', ['schema']), ...at('tests', ['request', 'bodyFile'])]
  return names.flatMap((name) => (typeof name === 'string' ? namedFile(source, name, context) : []))
}
