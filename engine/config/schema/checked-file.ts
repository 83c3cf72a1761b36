/** Turns a file into a checked value: reads and parses it, resolves references, and fills in defaults. */

import { basename, dirname } from 'node:path'
import type { TSchema } from 'typebox'
import { backgroundMs, yieldIfDue } from '../../yield.ts'
import type { Diagnostic, Finding } from '../file/diagnostic.ts'
import type { Diagnostics } from '../file/diagnostics.ts'
import { findKept, keep, keyOf, type Memo, remember } from '../file/kept.ts'
import { type LoadContext, ReadError } from '../file/load-context.ts'
import type { WrittenText } from '../file/parse-text.ts'
import { ParsedFile } from '../file/parsed-file.ts'
import { startOf } from '../file/places.ts'
import { isRecord } from '../values/is-record.ts'
import { type Path, writePath } from '../values/path.ts'
import { checkValue } from './check.ts'
import type { SchemaNode } from './keywords.ts'
import { findReferences, normalizeValue, type PlacedReference } from './normalize.ts'
import { resolveReferences } from './resolution.ts'

/** A checked file. Its value has the shape of its schema wherever `diagnostics` has no error. */
export interface CheckedFile<Value> {
  readonly source: ParsedFile
  readonly value: Value
}

/** `missing` is reported for a file that does not exist. */
export async function readText(
  file: string,
  context: LoadContext,
  diagnostics: Diagnostics,
  missing?: Diagnostic,
): Promise<string | undefined> {
  try {
    return await context.readText(file)
  } catch (error) {
    const absent = error instanceof ReadError && error.code === 'FILE_NOT_FOUND' ? missing : undefined
    diagnostics.add(absent ?? unreadable(file, error))
    return undefined
  }
}

export function unreadable(file: string, error: unknown): Diagnostic {
  if (!(error instanceof ReadError)) throw error
  const hint = error.isForbidden
    ? forbiddenHint
    : error.code === 'FILE_NOT_TEXT'
      ? 'Save it as UTF-8.'
      : undefined
  const message = `${basename(file)} ${error.message}`
  return { severity: 'error', code: error.code, message, place: startOf(file), ...(hint && { hint }) }
}

const forbiddenHint =
  'The user that the gateway runs as has to be able to read it: as root, `chown` it to that user, or run this as that user.'

/** A file parsed as YAML, or the reasons why it could not be. */
export type Parsed = { readonly source: ParsedFile } | { readonly problems: readonly Diagnostic[] }

/** Does not parse a text again that an earlier load parsed, and that a configuration still has. */
export async function parseFile(written: WrittenText, context: LoadContext): Promise<Parsed> {
  const { file, calledFile = context.nameOf(file) } = written
  const key = keyOf('file', calledFile, written)
  const source = findKept<ParsedFile>(key)
  if (source !== undefined) return { source }
  const known = context.problems.get(key)
  if (known !== undefined) return { problems: known }
  try {
    const answer = await context.options.parser.parse(written)
    if (!('problems' in answer)) return { source: keep(key, new ParsedFile(calledFile, answer)) }
    context.problems.set(key, answer.problems)
    return answer
  } catch (error) {
    return { problems: [unreadable(file, error)] }
  }
}

/** Parses, resolves references, fills in defaults and checks. Returns undefined if there is no usable value. */
export async function checkFile<Value>(
  schema: TSchema,
  written: WrittenText,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<CheckedFile<Value> | undefined> {
  const parsed = await parseFile(written, context)
  if ('source' in parsed) return checkSource(schema, parsed.source, context, diagnostics)
  diagnostics.add(...parsed.problems)
  return undefined
}

/** Does the work of {@link checkFile} after parsing. */
export async function checkSource<Value>(
  schema: TSchema,
  source: ParsedFile,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<CheckedFile<Value> | undefined> {
  const root = source.value ?? {}
  if (!isRecord(root)) {
    const hint = Array.isArray(root) ? 'Put the list under `mappings:`.' : 'Write `key: value` lines.'
    const message = 'The file must be a map of keys'
    diagnostics.report(source, [{ path: [], code: 'INVALID_VALUE', message, hint }])
    return undefined
  }
  const references = remember(written, source, [schema], () => findReferences(root, schema as SchemaNode))
  const resolved = await resolveReferences(references, context, { source }, diagnostics)
  await yieldIfDue(backgroundMs)
  const { value, findings } = remember(checked, source, [schema, ...resolved], () => {
    const left = resolved.values()
    const value = normalizeValue(root, schema as SchemaNode, () => left.next().value)
    return { value, findings: checkValue(schema, value) }
  })
  const referring = new Set(references.map(({ path }) => writePath(path)))
  for (const finding of findings.filter(({ path }) => diagnostics.isSound(source, path))) {
    const isOfValue = finding.code === 'INVALID_VALUE' && referring.has(writePath(finding.path))
    diagnostics.report(source, [isOfValue ? { ...finding, hint: referredHint } : finding])
  }
  return { source, value: value as Value }
}

const written: Memo<readonly PlacedReference[]> = new WeakMap()
/** The result for a file is valid as long as neither its text nor the values of its references change. */
const checked: Memo<{ readonly value: unknown; readonly findings: readonly Finding[] }> = new WeakMap()

const referredHint = 'The value comes from the reference: fix the variable or the file that it names.'

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
