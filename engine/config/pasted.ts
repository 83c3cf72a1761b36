/**
 * Loads mappings from a text that is no file, for trying them: they stand in the place of all others. Whoever pastes them has
 * the token of the admin API and not the operator's account, so nothing in the text reaches files or variables.
 */

import { dirname, join } from 'node:path'
import { yieldToEventLoop } from '../yield.ts'
import type { Configuration, MappingEntry } from './configuration.ts'
import { createEntries, type Item } from './entries.ts'
import type { Diagnostic } from './file/diagnostic.ts'
import { createFindings, type Findings } from './file/diagnostics.ts'
import { createLoadCache } from './file/load-cache.ts'
import { createLoadContext, type Files, ReadError } from './file/load-context.ts'
import type { TextParser } from './file/parse-text.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import { moduleName } from './rules/module-name.ts'
import { describeErrors, validateValue } from './schema/check.ts'
import { checkItems, parseFile } from './schema/checked-file.ts'
import { type MappingValue, mappingFileShape } from './schema/mapping-schema.ts'
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
export function loadPasted(live: Configuration, text: string, parser: TextParser): Promise<Pasted> {
  return createLoadCache()(async (cache): Promise<Pasted> => {
    const main = live.settings.file
    const file = join(dirname(main), 'pasted.yaml')
    if (Buffer.byteLength(text) > maxTextBytes) return { ok: false, diagnostics: [tooLong] }
    const context = createLoadContext({
      file: main,
      env: {},
      files: noFiles,
      cache,
      parser,
      allowsUnset: false,
      isPasted: true,
    })
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
    const findings = createFindings()
    const items = await itemsOf(source, findings)
    const { path, defaultSessionKey } = live.settings.hooks
    const hooks = { path, hasDefaultSession: defaultSessionKey !== undefined }
    const { mappings, disabled } = await createEntries(items, context, findings, hooks)
    for (const item of items) reportForeignModule(item, live, findings)
    const errors = findings.errors()
    const warnings = findings.warnings()
    if (errors.length > 0) return { ok: false, diagnostics: [...errors, ...warnings] }
    await yieldToEventLoop()
    return { ok: true, configuration: Object.freeze({ ...live, mappings, disabled, tests: [], warnings }) }
  })
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
async function itemsOf(source: ParsedFile, findings: Findings): Promise<readonly Item[]> {
  const refuse = (path: Path, code: string, message: string, hint: string) =>
    findings.report(source, { path, code, message, hint })
  const { value } = source
  const isFile = isRecord(value) && fileKeys.some((key) => key in value)
  const above = isFile ? ['mappings'] : []
  const list = isFile ? value['mappings'] : isRecord(value) ? [value] : value
  if (isFile) {
    const { endpoints, tests, ...rest } = value
    for (const [key, each] of Object.entries({ endpoints, tests })) if (each !== undefined) reportLeft(key)
    const frame = { ...rest, mappings: Array.isArray(list) ? [] : list }
    for (const each of describeErrors(validateValue(mappingFileShape.frame, frame), frame))
      findings.report(source, each)
  }
  if (!Array.isArray(list)) {
    if (list === undefined || !isFile) refuse([], 'INVALID_VALUE', nothingToTry, 'Write `key: value` lines.')
    return []
  }
  if (list.length > maxMappings) {
    const message = `A pasted text may have ${maxMappings} mappings, and this one has ${list.length}`
    refuse(above, 'INVALID_VALUE', message, 'Paste those of one endpoint.')
    return []
  }
  const [{ item: schema } = {}] = mappingFileShape.lists
  const checked = schema ? await checkItems(list, schema) : []
  return checked.map(({ made, errors }, index): Item => {
    const path = list[0] === value ? [] : [...above, index]
    if (isRecord(made) && JSON.stringify({ ...made, schema: undefined }).length > maxMappingLength) {
      const message = `A pasted mapping may have ${maxMappingLength / 1024} KiB`
      refuse(path, 'FILE_TOO_LARGE', message, 'Shorten its longest text.')
    }
    for (const each of describeErrors(errors, made, path)) findings.report(source, each)
    const origin = { kind: 'file', name: calledFile } as const
    return { value: made as MappingValue, source, path, position: index + 1, origin }
  })

  /** The live policies apply, and no test is run. */
  function reportLeft(key: string): void {
    const message = `\`${key}\` is left out when a mapping is tried: what is live applies`
    findings.report(source, { path: [key], at: 'key', code: 'NOT_TRIED', message }, 'warning')
  }
}

const fileKeys = ['mappings', 'endpoints', 'tests']
const nothingToTry = 'The text must be a mapping, a list of mappings, or a mapping file with `mappings`'

/** What is not live is not bundled, and a text that was pasted has nothing bundled. */
function reportForeignModule(
  { value, source, path }: Item,
  { mappings }: Configuration,
  findings: Findings,
): void {
  const { transform } = value
  if (transform === undefined || !findings.isSound(source, path)) return
  const nameOf = (module: string, exported = 'default') =>
    exported === 'default' ? moduleName(module) : `${moduleName(module)}, export ${exported}`
  const isLive = (each: MappingEntry) =>
    each.value.transform !== undefined &&
    nameOf(each.value.transform.module, each.value.transform.export) ===
      nameOf(transform.module, transform.export)
  if (mappings.some(isLive)) return
  const known = mappings.flatMap(({ value: { transform: one } }) =>
    one ? [nameOf(one.module, one.export)] : [],
  )
  const names = [...new Set(known)].sort().slice(0, 20)
  findings.report(source, {
    path: [...path, 'transform', 'module'],
    code: 'TRANSFORM_NOT_LIVE',
    message: `No live mapping calls \`${nameOf(transform.module, transform.export)}\`, so that a pasted one cannot`,
    hint: names.length === 0 ? 'No live mapping has a transform.' : `Live are ${names.join('; ')}.`,
  })
}
