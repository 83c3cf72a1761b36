/** Reads what a configuration says about a source before it is connected, also where only that part is wrong. */

import { readFile } from 'node:fs/promises'
import { type Configuration, keyOfSource } from '@reveille/engine'
import { documentOf } from '../../written-document.ts'
import { withCompiled } from '../authoring/compile.ts'
import { CommandFailure } from '../command-failure.ts'
import { formatDiagnostics, loadText } from '../configuration.ts'
import type { Io } from '../io.ts'

export interface Configured {
  readonly configuration: Configuration
  /** The configuration of the source, with references resolved. */
  readonly source: Readonly<Record<string, unknown>>
  /** The same with values that are invalid. */
  readonly written: Readonly<Record<string, unknown>>
}

export function pathOfSource(name: string): readonly string[] {
  return keyOfSource(name).split('.')
}

/** @throws CommandFailure where anything but the source is wrong, so that no consent is given for nothing */
export async function readConfigured(file: string, name: string, io: Io): Promise<Configured> {
  const text = await readFile(file, 'utf8')
  const loaded = await loadText(file, text, io.env)
  const source = loaded.ok ? (loaded.configuration.settings.sources[name] ?? {}) : {}
  const checked = await checkText(file, text, io)
  if (checked.ok) return { configuration: checked.configuration, source, written: source }
  const document = documentOf(text)
  const path = pathOfSource(name)
  if (loaded.ok && document.errors.length === 0 && document.hasIn(path)) {
    const { [path.at(-1) ?? '']: block } = (
      document.getIn(path.slice(0, -1)) as { toJSON(): object }
    ).toJSON() as Record<string, object>
    // Keys that the source does not have are about its preset, and stay.
    const others = Object.entries(block ?? {}).filter(([key]) => !Object.hasOwn(source, key))
    document.setIn(path, Object.fromEntries(others))
    const rest = await checkText(file, String(document), io)
    if (rest.ok) return { configuration: rest.configuration, source, written: source }
  }
  throw new CommandFailure(1, `${formatDiagnostics(checked.diagnostics, io)}\n\nFix this first.`)
}

/** Checks whether a gateway would accept the file if this were its text. */
export async function checkText(file: string, text: string, io: Io) {
  return withCompiled(
    await loadText(file, text, io.env),
    io,
    (compiled) => {
      if (!compiled.ok)
        return {
          ok: false as const,
          diagnostics: compiled.diagnostics.filter(({ severity }) => severity === 'error'),
        }
      const { configuration, warnings } = compiled
      return { ok: true as const, configuration, warnings }
    },
    { startsPlugins: true },
  )
}
