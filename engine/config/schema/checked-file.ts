/** Turns a file into a checked value: reads and parses it, resolves references, and fills in defaults. */

import { basename } from 'node:path'
import type { ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import { backgroundMs, yieldIfDue } from '../../yield.ts'
import type { Diagnostic } from '../file/diagnostic.ts'
import type { Findings } from '../file/diagnostics.ts'
import { type Memo, remember } from '../file/load-cache.ts'
import { type LoadContext, ReadError } from '../file/load-context.ts'
import type { WrittenText } from '../file/parse-text.ts'
import { createParsedFile, listAt, type ParsedFile } from '../file/parsed-file.ts'
import { startOf } from '../file/places.ts'
import { isRecord } from '../values/is-record.ts'
import { type Path, valueAt, writePath } from '../values/path.ts'
import { describeErrors, validateValue } from './check.ts'
import type { FileShape } from './file-shape.ts'
import type { SchemaNode } from './keywords.ts'
import { resolveReferences } from './resolution.ts'
import { shapeValue } from './shape.ts'

/** A checked file. Its value has the shape of its schema wherever `findings` reports no error. */
export interface CheckedFile<Value> {
  readonly source: ParsedFile
  readonly value: Value
}

export async function readText(
  file: string,
  context: LoadContext,
  findings: Findings,
  missing?: (file: string) => Diagnostic,
): Promise<string | undefined> {
  try {
    return await context.readText(file)
  } catch (error) {
    const absent = error instanceof ReadError && error.code === 'FILE_NOT_FOUND' ? missing?.(file) : undefined
    findings.add(absent ?? unreadable(file, error))
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

/** What the next load needs to recognise a file. */
interface KnownFile {
  readonly text: string
  readonly parsed: Parsed
}

/** Does not parse a text again that an earlier load parsed. */
export async function parseFile(written: WrittenText, context: LoadContext): Promise<Parsed> {
  const { kind, file, calledFile, text } = written
  const { cache, parser } = context
  const known = cache.lookUp<KnownFile>(kind, file).find((one) => one.text === text)
  if (known) {
    cache.note(kind, file, known)
    return known.parsed
  }
  try {
    const answer = await parser.parse(written)
    const parsed =
      'problems' in answer ? answer : { source: createParsedFile(calledFile ?? context.nameOf(file), answer) }
    cache.note(kind, file, { text, parsed } satisfies KnownFile)
    return parsed
  } catch (error) {
    return { problems: [unreadable(file, error)] }
  }
}

/** Parses, resolves references, fills in defaults and checks. Returns undefined if there is no usable value. */
export async function checkFile<Value>(
  shape: FileShape,
  written: WrittenText,
  context: LoadContext,
  findings: Findings,
): Promise<CheckedFile<Value> | undefined> {
  const parsed = await parseFile(written, context)
  if ('source' in parsed) return checkSource(shape, parsed.source, context, findings)
  findings.add(...parsed.problems)
  return undefined
}

/** Does the work of {@link checkFile} after parsing. */
export async function checkSource<Value>(
  shape: FileShape,
  source: ParsedFile,
  context: LoadContext,
  findings: Findings,
): Promise<CheckedFile<Value> | undefined> {
  const root = source.value ?? {}
  if (!isRecord(root)) {
    const hint = Array.isArray(root) ? 'Put the list under `mappings:`.' : 'Write `key: value` lines.'
    findings.report(source, {
      path: [],
      code: 'INVALID_VALUE',
      message: 'The file must be a map of keys',
      hint,
    })
    return undefined
  }
  const lists = shape.lists.flatMap(({ path, item }) => {
    const items = listAt(root, path)
    return items ? { path, item, items } : []
  })
  const frame = lists.reduce((value, { path }) => replaceAt(value, path, []), root)
  const { value, pending } = shapeValue(frame, shape.frame as SchemaNode)
  await resolveReferences(pending, context, { source, findings })
  const violations = describeErrors(validateValue(shape.frame, value), value)
  const referring = new Set(pending.map(({ path }) => writePath(path)))
  for (const violation of violations.filter(({ path }) => findings.isSound(source, path))) {
    const isOfValue = violation.code === 'INVALID_VALUE' && referring.has(writePath(violation.path))
    const hint = isOfValue ? referredHint : violation.hint
    findings.report(source, { ...violation, hint })
  }
  for (const { path, item, items } of lists) {
    const checked = await checkItems(items, item)
    for (const [index, { made, errors }] of checked.entries())
      for (const each of describeErrors(errors, made, [...path, index])) findings.report(source, each)
    const holder = valueAt(value, path.slice(0, -1)) as Record<string, unknown>
    holder[String(path.at(-1))] = checked.map(({ made }) => made)
  }
  return { source, value: value as Value }
}

export interface CheckedItem {
  /** The value with its defaults. */
  readonly made: unknown
  readonly errors: readonly ErrorObject[]
}

/** Items of lists hold no references, so the result for a list is valid as long as its file is unchanged. */
const checkedLists: Memo<Promise<readonly CheckedItem[]>> = new WeakMap()

/** Fills in the defaults of each item, and checks it. */
export function checkItems(items: readonly unknown[], schema: TSchema): Promise<readonly CheckedItem[]> {
  return remember(checkedLists, items, [schema], async () => {
    const checked: CheckedItem[] = []
    for (const item of items) {
      await yieldIfDue(backgroundMs)
      const { value: made } = shapeValue(item, schema as SchemaNode)
      checked.push({ made, errors: validateValue(schema, made) })
    }
    return checked
  })
}

type Tree = Readonly<Record<string, unknown>>

/** Returns a copy with another value at an existing path of the tree. */
function replaceAt(tree: Tree, [key, ...rest]: Path, value: unknown): Tree {
  const name = String(key)
  return { ...tree, [name]: rest.length === 0 ? value : replaceAt(tree[name] as Tree, rest, value) }
}

const referredHint = 'The value comes from the reference: fix the variable or the file that it names.'
