/**
 * Loads mappings from a text that is no file, for trying them: they stand in the place of all others. Whoever pastes them has
 * the token of the admin API and not the operator's account, so nothing in the text reaches files or variables.
 */

import { dirname, join } from 'node:path'
import { yieldToEventLoop } from '../yield.ts'
import type { Configuration, MappingEntry } from './configuration.ts'
import type { Diagnostic } from './diagnostic/diagnostic.ts'
import { createFindings, type Findings } from './diagnostic/findings.ts'
import { checkItems, parseFile } from './file/checked-file.ts'
import type { TextParser } from './file/parse-text.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import { createReading, type Files, ReadError } from './file/reading.ts'
import { isRecord } from './is-record.ts'
import { createLoadCache } from './load-cache.ts'
import { createEntries, type Item } from './mapping/entries.ts'
import { moduleName } from './mapping/module-name.ts'
import { createPayloadSchemas } from './mapping/payload-schema.ts'
import { nearestName } from './nearest.ts'
import type { Path } from './path.ts'
import { describeErrors } from './schema/check.ts'
import { type MappingValue, mappingFileShape } from './schema/mapping-schema.ts'

/** The longest text. It is checked and compiled while requests are served. Bytes. */
export const longestPasted = 65_536
/** The most mappings in it, and the longest one as JSON, apart from its schema. Between two mappings requests are served. */
const mostPasted = 100
const longestMapping = 16_384
/** The most values, with every alias expanded. */
const mostValues = 20_000

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
    const refused = (...diagnostics: readonly Diagnostic[]): Pasted => ({ ok: false, diagnostics })
    if (Buffer.byteLength(text) > longestPasted) return refused(tooLong)
    const reading = createReading({
      file: main,
      env: {},
      files: noFiles,
      cache,
      parser,
      allowsUnset: false,
      isPasted: true,
    })
    const written = { kind: 'mappings', file, calledFile, text: withoutMark(text), mostValues } as const
    const parsed = await parseFile(written, reading)
    if ('problems' in parsed) return refused(...parsed.problems)
    const { source } = parsed
    const findings = createFindings()
    const items = await itemsOf(source, findings)
    const { path, defaultSessionKey } = live.settings.hooks
    const hooks = { path, hasDefaultSession: defaultSessionKey !== undefined }
    const schemas = createPayloadSchemas(reading, findings)
    const { mappings, disabled } = await createEntries(items, schemas, reading, findings, hooks)
    for (const item of items) reportForeignModule(item, live, findings)
    const errors = findings.errors()
    const warnings = findings.warnings()
    if (errors.length > 0) return refused(...errors, ...warnings)
    await yieldToEventLoop()
    return { ok: true, configuration: Object.freeze({ ...live, mappings, disabled, tests: [], warnings }) }
  })
}

const calledFile = 'the pasted mapping'

const tooLong: Diagnostic = {
  severity: 'error',
  code: 'FILE_TOO_LARGE',
  message: `A pasted mapping may have ${longestPasted / 1024} KiB`,
  hint: 'Paste only the mappings of one endpoint.',
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
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

/** Returns the mappings of the text that have the right shape, and reports the others. */
async function itemsOf(source: ParsedFile, findings: Findings): Promise<readonly Item[]> {
  const { above, list } = listIn(source, findings)
  if (list.length > mostPasted) {
    const message = `A pasted text may have ${mostPasted} mappings, and this one has ${list.length}`
    findings.report(source, {
      path: above,
      code: 'INVALID_VALUE',
      message,
      hint: 'Paste those of one endpoint.',
    })
    return []
  }
  const pathOf = (index: number): Path =>
    list.length === 1 && list[0] === source.value ? [] : [...above, index]
  const [{ item: shape } = { item: undefined }] = mappingFileShape.lists
  if (shape === undefined) return []
  const checked = await checkItems(list, shape)
  return checked.map(({ made, errors }, index): Item => {
    const path = pathOf(index)
    if (isRecord(made) && JSON.stringify({ ...made, schema: undefined }).length > longestMapping) {
      const message = `A pasted mapping may have ${longestMapping / 1024} KiB`
      findings.report(source, { path, code: 'FILE_TOO_LARGE', message, hint: 'Shorten its longest text.' })
    }
    for (const each of describeErrors(errors, made, path)) findings.report(source, each)
    const origin = { kind: 'file', name: calledFile } as const
    return { value: made as MappingValue, source, path, position: index + 1, origin }
  })
}

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

/** The keys of a mapping file that are not of its mappings. The live policies apply, and no test is run. */
const left = ['endpoints', 'tests']

function listIn(
  source: ParsedFile,
  findings: Findings,
): { readonly above: Path; readonly list: readonly unknown[] } {
  const { value } = source
  const none = { above: [], list: [] }
  if (Array.isArray(value)) return { above: [], list: value }
  if (!isRecord(value)) {
    const message = 'The text must be a mapping, a list of mappings, or a mapping file'
    findings.report(source, { path: [], code: 'INVALID_VALUE', message, hint: 'Write `key: value` lines.' })
    return none
  }
  if (!('mappings' in value)) {
    // A file without mappings has nothing to try, and its keys are no mapping's.
    if (!left.some((key) => key in value)) return { above: [], list: [value] }
    const message = 'The text has no `mappings`'
    findings.report(source, {
      path: [],
      code: 'INVALID_VALUE',
      message,
      hint: 'Write them under `mappings:`.',
    })
    return none
  }
  for (const key of Object.keys(value)) {
    if (key === 'mappings') continue
    if (left.includes(key)) {
      const message = `\`${key}\` is left out when a mapping is tried: what is live applies`
      findings.report(source, { path: [key], at: 'key', code: 'NOT_TRIED', message }, 'warning')
      continue
    }
    const nearest = nearestName(key, ['mappings', ...left])
    const hint =
      nearest === undefined
        ? 'A mapping file has `mappings`, `tests` and `endpoints`.'
        : `Did you mean \`${nearest}\`?`
    findings.report(source, {
      path: [key],
      at: 'key',
      code: 'UNKNOWN_KEY',
      message: `\`${key}\` is not a known key`,
      hint,
    })
  }
  const { mappings } = value
  if (Array.isArray(mappings)) return { above: ['mappings'], list: mappings }
  if (mappings !== null) {
    const message = '`mappings` must be a list'
    findings.report(source, {
      path: ['mappings'],
      code: 'INVALID_VALUE',
      message,
      hint: 'Begin each mapping with `- `.',
    })
  }
  return none
}
