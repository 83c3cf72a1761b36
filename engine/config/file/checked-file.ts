/** Owns the way of one file to a checked value: read, parsed, references resolved, defaults filled in. */

import { basename } from 'node:path'
import type { ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import { backgroundMs, takeTurn } from '../../turn.ts'
import type { Diagnostic, Place } from '../diagnostic/diagnostic.ts'
import type { Findings } from '../diagnostic/findings.ts'
import { isRecord } from '../is-record.ts'
import { remember } from '../memory.ts'
import { type Path, writePath } from '../path.ts'
import { describeErrors, validateValue } from '../schema/check.ts'
import type { FileShape } from '../schema/file-shape.ts'
import type { Finding } from '../schema/violation.ts'
import { ReadError, type Reading } from './reading.ts'
import { resolveReferences } from './resolution.ts'
import { type Budget, createBudget, type SchemaNode, shapeValue } from './shape.ts'
import { type Parsed, parseSource, type Source, type SourceOptions } from './source.ts'

/** A file whose value has its schema's shape wherever `findings` has nothing against it. */
export interface CheckedFile<Value> {
  readonly source: Source
  readonly value: Value
}

export async function readText(
  file: string,
  reading: Reading,
  findings: Findings,
  missing?: (file: string) => Diagnostic,
): Promise<string | undefined> {
  try {
    return await reading.readText(file)
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

export function startOf(file: string): Place {
  return { file, line: 1, column: 1, text: '' }
}

/** Parses, resolves references, fills defaults and checks; undefined when there is no value to go on with. */
export async function checkFile<Value>(
  shape: FileShape,
  file: Omit<SourceOptions, 'name' | 'lists'>,
  reading: Reading,
  findings: Findings,
): Promise<CheckedFile<Value> | undefined> {
  const parsed = await parseFile(shape, file, reading)
  if ('problems' in parsed) {
    findings.add(...parsed.problems)
    return undefined
  }
  return checkSource(shape, parsed.source, reading, findings)
}

/** What {@link checkFile} does first. */
export function parseFile(
  { lists }: FileShape,
  file: Omit<SourceOptions, 'name' | 'lists'>,
  reading: Reading,
): Promise<Parsed> {
  const name = file.calledFile ?? reading.nameOf(file.file)
  return parseSource({ ...file, name, lists: lists.map(({ path }) => path) }, reading.memory)
}

/** What {@link checkFile} does once the file is parsed. */
export async function checkSource<Value>(
  shape: FileShape,
  source: Source,
  reading: Reading,
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
  try {
    if (endless.has(source)) throw new RangeError('known to have no end')
    const lists = shape.lists.flatMap(({ path, item }) => {
      const items = source.items(path)
      return items ? { path, item, items } : []
    })
    const frame = lists.reduce((value, { path }) => replaceAt(value, path, []), root)
    const budget = createBudget()
    const { value, pending } = shapeValue(frame, shape.frame as SchemaNode, budget)
    await resolveReferences(pending, reading, { source, findings })
    const violations = describeErrors(validateValue(shape.frame, value), value)
    const referring = new Set(pending.map(({ path }) => writePath(path)))
    for (const violation of violations.filter(({ path }) => findings.isSound(source, path))) {
      const isOfValue = violation.code === 'INVALID_VALUE' && referring.has(writePath(violation.path))
      const hint = isOfValue ? referredHint : violation.hint
      findings.report(source, { ...violation, hint })
    }
    for (const { path, item, items } of lists) {
      const checked: unknown[] = []
      for (const [index, one] of items.entries()) {
        await takeTurn(backgroundMs)
        // What was remembered uses up nothing, so only files whose items are all new or all known may share.
        const own = source.isCut ? createBudget() : budget
        const { made, errors } = remember(one.stages, item, [], () => checkItem(one.value, item, own))
        checked.push(made)
        if (errors.length === 0) continue
        for (const each of describeErrors(errors, made, [...path, index])) findings.report(source, each)
      }
      putAt(value as Record<string, unknown>, path, checked)
    }
    return { source, value: value as Value }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    endless.add(source)
    findings.report(source, endlessAliases)
    return undefined
  }
}

function checkItem(
  written: unknown,
  schema: TSchema,
  budget: Budget,
): { readonly made: unknown; readonly errors: readonly ErrorObject[] } {
  const { value: made } = shapeValue(written, schema as SchemaNode, budget)
  return { made, errors: validateValue(schema, made) }
}

type Tree = Readonly<Record<string, unknown>>

/** A copy with another value at a path that the tree has. */
function replaceAt(tree: Tree, [key, ...rest]: Path, value: unknown): Tree {
  const name = String(key)
  return { ...tree, [name]: rest.length === 0 ? value : replaceAt(tree[name] as Tree, rest, value) }
}

function putAt(tree: Record<string, unknown>, [key, ...rest]: Path, value: unknown): void {
  const name = String(key)
  if (rest.length === 0) tree[name] = value
  else putAt(tree[name] as Record<string, unknown>, rest, value)
}

/** Sources that expand to more than can be walked. A later load remembers what was walked, so no limit would stop it. */
const endless = new WeakSet<Source>()

/** Of a file whose value is too large to be walked, which only aliases make it; they may even be circles. */
export const endlessAliases: Finding = {
  path: [],
  code: 'TOO_MANY_ALIASES',
  message: "The file's aliases expand to more values than can be read",
  hint: 'Write fewer aliases of anchors that hold aliases themselves, and none inside its own anchor.',
}

const referredHint = 'The value comes from the reference: mend the variable or the file that it names.'
