/**
 * Loads mappings from a text that is no file, to try them: they replace all others. The person who pastes them has
 * the token of the admin API and not the operator's account, so nothing in the text reaches files or variables.
 */

import { dirname, join } from 'node:path'
import { yieldToEventLoop } from '../yield.ts'
import type { Configuration, MappingEntry } from './configuration.ts'
import { createEntries } from './entries.ts'
import type { Diagnostic, Finding } from './file/diagnostic.ts'
import { createDiagnostics, type Diagnostics } from './file/diagnostics.ts'
import { type Files, LoadContext, ReadError } from './file/load-context.ts'
import type { TextParser } from './file/parse-text.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import type { Item } from './items.ts'
import { moduleName } from './rules/module-name.ts'
import { checkValue } from './schema/check.ts'
import { parseFile } from './schema/checked-file.ts'
import type { SchemaNode } from './schema/keywords.ts'
import { type MappingValue, mappingFileSchema, mappingSchema } from './schema/mapping-schema.ts'
import { normalizeValue } from './schema/normalize.ts'
import { isRecord } from './values/is-record.ts'
import type { Path } from './values/path.ts'

/** The limits of what is checked and compiled while requests are served. A mapping is measured as JSON, without its schema. */
const maxTextBytes = 65_536
const maxMappings = 100
const maxMappingLength = 16_384
/** With every alias expanded. */
const maxValues = 20_000

export type Pasted =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Takes a mapping file, a list of mappings or one mapping. Settings and policies are those of `live`. Never rejects for what
 * the text says.
 */
export async function loadPasted(live: Configuration, text: string, parser: TextParser): Promise<Pasted> {
  const main = live.settings.file
  const file = join(dirname(main), 'pasted.yaml')
  if (Buffer.byteLength(text) > maxTextBytes) return { ok: false, diagnostics: [tooLong] }
  const context = new LoadContext({ file: main, env: {}, files: noFiles, parser, isPasted: true })
  const written = {
    kind: 'mappings',
    file,
    calledFile,
    text: text.replace(/^\ufeff/, ''),
    maxValues,
  } as const
  const parsed = await parseFile(written, context)
  if ('problems' in parsed) return { ok: false, diagnostics: parsed.problems }
  const { source } = parsed
  const diagnostics = createDiagnostics()
  const items = itemsOf(source, diagnostics)
  const { path, defaultSessionKey } = live.settings.hooks
  const hooks = { path, hasDefaultSession: defaultSessionKey !== undefined }
  const { mappings, disabled } = await createEntries(items, context, diagnostics, hooks)
  for (const item of items) reportForeignModule(item, live, diagnostics)
  const errors = diagnostics.errors()
  const warnings = diagnostics.warnings()
  if (errors.length > 0) return { ok: false, diagnostics: [...errors, ...warnings] }
  await yieldToEventLoop()
  return { ok: true, configuration: Object.freeze({ ...live, mappings, disabled, tests: [], warnings }) }
}

const calledFile = 'the pasted mapping'

const tooLong: Diagnostic = {
  severity: 'error',
  code: 'FILE_TOO_LARGE',
  message: `A pasted mapping may have ${maxTextBytes / 1024} KiB`,
  hint: 'Paste only the mappings of one endpoint.',
}

/** Nothing is opened for a text that was pasted. */
const noFiles: Files = {
  readFile: () => Promise.reject(closed()),
  readdir: () => Promise.reject(closed()),
  stat: () => Promise.reject(closed()),
}

function closed(): ReadError {
  return new ReadError('FILE_UNREADABLE', 'is not opened for a pasted mapping: write its content inline')
}

/** Returns the mappings of the text, and reports those that have not the right shape. */
function itemsOf(source: ParsedFile, diagnostics: Diagnostics): readonly Item[] {
  const { value } = source
  const isFile = isRecord(value) && fileKeys.some((key) => key in value)
  const above = isFile ? ['mappings'] : []
  const list = isFile ? value['mappings'] : isRecord(value) ? [value] : value
  const refuse = (path: Path, code: string, message: string, hint: string) =>
    diagnostics.report(source, [{ path, code, message, hint }])
  const { endpoints, tests, ...rest } = isFile ? value : {}
  // The live policies apply, and no test is run.
  for (const [key, each] of Object.entries({ endpoints, tests })) {
    const problem = 'is left out when a mapping is tried: what is live applies'
    if (each !== undefined)
      diagnostics.report(source, [
        { path: [key], at: 'key', severity: 'warning', code: 'NOT_TRIED', problem },
      ])
  }
  if (!Array.isArray(list)) {
    if (list !== undefined && isFile) diagnostics.report(source, checkValue(mappingFileSchema, value))
    else refuse([], 'INVALID_VALUE', nothingToTry, 'Write `key: value` lines.')
    return []
  }
  if (list.length > maxMappings) {
    const message = `A pasted text may have ${maxMappings} mappings, and this one has ${list.length}`
    refuse(above, 'INVALID_VALUE', message, 'Paste those of one endpoint.')
    return []
  }
  const pathOf = (index: number) => (list[0] === value ? [] : [...above, index])
  const made = list.map((item) =>
    normalizeValue(item, { ...(mappingSchema as SchemaNode), references: false }),
  )
  const findings = checkValue(mappingFileSchema, { ...rest, mappings: made }).map((finding) => {
    const [key, index, ...below] = finding.path
    const isOfMapping = key === 'mappings' && typeof index === 'number'
    return isOfMapping ? { ...finding, path: [...pathOf(index), ...below] } : finding
  })
  diagnostics.report(source, findings)
  return made.map((value, index): Item => {
    const path = pathOf(index)
    if (isRecord(value) && JSON.stringify({ ...value, schema: undefined }).length > maxMappingLength) {
      const message = `A pasted mapping may have ${maxMappingLength / 1024} KiB`
      refuse(path, 'FILE_TOO_LARGE', message, 'Shorten its longest text.')
    }
    const origin = { kind: 'file', name: calledFile } as const
    return { value: value as MappingValue, source, path, position: index + 1, origin }
  })
}

const fileKeys = ['mappings', 'endpoints', 'tests']
const nothingToTry = 'The text must be a mapping, a list of mappings, or a mapping file with `mappings`'

/** Reports a module that is not live: it is not bundled, and a text that was pasted has nothing bundled. */
function reportForeignModule(
  { value, source, path }: Item,
  { mappings }: Configuration,
  diagnostics: Diagnostics,
): void {
  const { transform } = value
  if (transform === undefined || !diagnostics.isSound(source, path)) return
  const nameOf = (module: string, exported = 'default') =>
    exported === 'default' ? moduleName(module) : `${moduleName(module)}, export ${exported}`
  const isLive = (each: MappingEntry) =>
    each.value.transform !== undefined &&
    nameOf(each.value.transform.module, each.value.transform.export) ===
      nameOf(transform.module, transform.export)
  if (mappings.some(isLive)) return
  const liveModules = mappings.flatMap(({ value: { transform: one } }) =>
    one ? [nameOf(one.module, one.export)] : [],
  )
  const names = [...new Set(liveModules)].sort().slice(0, 20)
  const finding: Finding = {
    path: [...path, 'transform', 'module'],
    code: 'TRANSFORM_NOT_LIVE',
    message: `No live mapping calls \`${nameOf(transform.module, transform.export)}\`, so that a pasted one cannot`,
    hint: names.length === 0 ? 'No live mapping has a transform.' : `Live are ${names.join('; ')}.`,
  }
  diagnostics.report(source, [finding])
}
