/** Finds and reads the files of the presets in use. */

import { join } from 'node:path'
import type { Finding } from '../diagnostic/diagnostic.ts'
import { type CheckedFile, checkFile, readText } from '../file/checked-file.ts'
import type { Findings } from '../file/findings.ts'
import { ReadError, type Reading } from '../file/reading.ts'
import { nearestName } from '../nearest.ts'
import { type Path, writePath } from '../path.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { type MappingFileValue, mappingFileShape } from '../schema/mapping-schema.ts'
import type { PresetUse } from '../schema/preset-schema.ts'

export interface PresetFile {
  readonly use: PresetUse
  /** The place where the configuration names it. */
  readonly at: Path
  readonly file: CheckedFile<MappingFileValue>
}

const listPath: Path = ['hooks', 'presets']

/** Returns presets in their listed order, and reports those that cannot be used. Without `folder` there are none. */
export async function readPresets(
  main: CheckedFile<ConfigurationValue>,
  folder: string | undefined,
  reading: Reading,
  findings: Findings,
): Promise<PresetFile[]> {
  const listed = main.value.hooks?.presets
  if (!Array.isArray(listed) || listed.length === 0) return []
  const report = (finding: Finding) => findings.report(main.source, finding)
  const known = await shippedNames(folder, reading, report)
  if (!known || folder === undefined) return []
  const presets: PresetFile[] = []
  const used = new Set<string>()
  for (const [index, one] of listed.entries()) {
    const at = [...listPath, index]
    if (!findings.isSound(main.source, at)) continue
    const use: PresetUse = typeof one === 'string' ? { name: one } : one
    const namedAt = typeof one === 'string' ? at : [...at, 'name']
    const finding = checkName(use.name, namedAt, known, used)
    if (finding) {
      report(finding)
      reading.watch(folder)
    } else {
      used.add(use.name)
      const file = await readPreset(folder, use.name, reading, findings)
      if (file) presets.push({ use, at, file })
    }
  }
  return presets
}

async function shippedNames(
  folder: string | undefined,
  reading: Reading,
  report: (finding: Finding) => void,
): Promise<string[] | undefined> {
  const missing = { path: listPath, code: 'UNKNOWN_PRESET' }
  if (folder === undefined) {
    const message = '`hooks.presets` names presets, and none are shipped with this gateway'
    report({ ...missing, message, hint: 'Write mappings of your own instead.' })
    return undefined
  }
  try {
    const names = await reading.listFolder(folder)
    return names.flatMap((name) => /^([^.].*)\.yaml$/.exec(name)?.[1] ?? [])
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    report({ ...missing, message: `The folder of the built-in presets, ${folder}, ${error.message}` })
    return undefined
  }
}

function checkName(
  name: string,
  path: Path,
  known: readonly string[],
  used: ReadonlySet<string>,
): Finding | undefined {
  const where = `\`${writePath(path)}\``
  if (used.has(name)) {
    const message = `${where} names a preset for the second time`
    return { path, code: 'DUPLICATE_PRESET', message, hint: 'Keep one of the two.' }
  }
  if (known.includes(name)) return undefined
  const nearest = nearestName(name, known)
  const guess = nearest === undefined ? '' : `Did you mean \`${nearest}\`? `
  const hint = `${guess}There are: ${known.join(', ')}.`
  return { path, code: 'UNKNOWN_PRESET', message: `${where} is not the name of a preset`, hint }
}

async function readPreset(
  folder: string,
  name: string,
  reading: Reading,
  findings: Findings,
): Promise<CheckedFile<MappingFileValue> | undefined> {
  const file = join(folder, `${name}.yaml`)
  reading.watch(file)
  const text = await readText(file, reading, findings)
  if (text === undefined) return undefined
  const shipped = { kind: 'mappings', file, calledFile: `preset ${name}`, text } as const
  return checkFile<MappingFileValue>(mappingFileShape, shipped, reading, findings)
}
