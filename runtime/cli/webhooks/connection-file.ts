/** Reads what a configuration says about a connection, and writes it into the configuration and `.env`. Comments and everything else stay. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Configuration, isRecord, keyOfSource } from '@reveille/engine'
import { type Edit, type SetEdit, valueAt as valueIn } from '../../scaffold/edit-configuration.ts'
import { setInEnvFile } from '../../scaffold/env-file.ts'
import { NotEditable } from '../../scaffold/parsed-text.ts'
import { replaceFile } from '../../scaffold/replace-file.ts'
import { contentOf, documentOf } from '../../written-document.ts'
import { withCompiled } from '../authoring/compile.ts'
import { type CommandFailure, failure } from '../command-failure.ts'
import { formatDiagnostics, loadText, shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'

type Path = readonly string[]

const endpoints: Path = ['hooks', 'endpoints']
const presets: Path = ['hooks', 'presets']

/** Checks whether a gateway would accept the file if this were its text. */
async function checkText(file: string, text: string, io: Io) {
  return withCompiled(
    await loadText(file, text, io.env),
    io,
    (compiled) => {
      if (compiled.ok) return { ok: true as const, configuration: compiled.configuration }
      const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error')
      return { ok: false as const, text: formatDiagnostics(errors, io) }
    },
    { startsPlugins: true },
  )
}

/** The configuration of now. @throws CommandFailure where it does not load */
export async function configurationOf(file: string, text: string, io: Io): Promise<Configuration> {
  const checked = await checkText(file, text, io)
  if (checked.ok) return checked.configuration
  throw failure(`${checked.text}\n\nFix this first.`)
}

export interface Configured {
  readonly configuration: Configuration
  /** The configuration of the source, with references resolved, and values that are invalid. */
  readonly source: Readonly<Record<string, unknown>>
}

export function pathOfSource(name: string): Path {
  return keyOfSource(name).split('.')
}

/** @throws CommandFailure where anything but the source is wrong, so that no consent is given for nothing */
export async function readConfigured(file: string, name: string, io: Io): Promise<Configured> {
  const text = await readFile(file, 'utf8')
  const loaded = await loadText(file, text, io.env)
  const source = loaded.ok ? (loaded.configuration.settings.sources[name] ?? {}) : {}
  const document = documentOf(text)
  const place = pathOfSource(name)
  try {
    return { configuration: await configurationOf(file, text, io), source }
  } catch (error) {
    if (!loaded.ok || document.errors.length > 0 || !document.hasIn(place)) throw error
    // Keys that the source does not have are about its preset, and stay.
    const others = keysAt(text, place).filter((key) => !Object.hasOwn(source, key))
    document.setIn(place, Object.fromEntries(others.map((key) => [key, valueAt(text, [...place, key])])))
    const rest = await checkText(file, String(document), io)
    if (!rest.ok) throw error
    return { configuration: rest.configuration, source }
  }
}

/** Adds the preset, unless it is listed: it serves one endpoint. */
export function presetEdit(preset: string, endpoint = preset): Edit {
  return {
    include: presets,
    item: presetItem(preset, endpoint),
    matches: (existing) => existing === preset || (isRecord(existing) && existing['name'] === preset),
  }
}

function presetItem(preset: string, endpoint: string) {
  return endpoint === preset ? preset : { name: preset, path: endpoint }
}

/** Sets these keys of a map, whose other keys stay. */
export function keyEdits(place: Path, values: object): readonly SetEdit[] {
  return Object.entries(values).map(([key, to]) => ({ set: [...place, key], to }))
}

/** Takes the preset off the list, where it is as {@link presetEdit} adds it. */
export function unlistEdits(text: string, preset: string, endpoint: string): readonly SetEdit[] {
  const listed = valueAt(text, presets)
  if (!Array.isArray(listed)) return []
  const kept = listed.filter((item) => !isDeepStrictEqual(item, presetItem(preset, endpoint)))
  if (kept.length === listed.length) return []
  return [{ set: presets, to: kept.length === 0 ? undefined : kept }]
}

/** Removes these keys of a policy, and the policy or all policies where nothing else would be left. */
export function removalEdits(text: string, endpoint: string, keys: readonly string[]): readonly SetEdit[] {
  const policy = [...endpoints, endpoint]
  const written = keysAt(text, policy)
  const gone = written.filter((key) => keys.includes(key))
  if (gone.length === 0) return []
  if (gone.length < written.length) return gone.map((key) => ({ set: [...policy, key], to: undefined }))
  return [{ set: keysAt(text, endpoints).length > 1 ? policy : endpoints, to: undefined }]
}

/** A value as it is written, with its references. */
export function valueAt(text: string, place: Path): unknown {
  return valueIn(contentOf(documentOf(text)), place)
}

/** The keys of the map at a path, as they are written. */
export function keysAt(text: string, place: Path): readonly string[] {
  return Object.keys(valueAt(text, place) ?? {})
}

/** The variable that a written value refers to: `"${NAME}"` and `"${NAME:-}"`. */
export function variableIn(written: unknown): string | undefined {
  return typeof written === 'string' ? /^\$\{(\w+)(?::-)?\}$/.exec(written)?.[1] : undefined
}

interface Writing {
  readonly file: string
  /** Variables to be set in `.env`; undefined removes one. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  edit(text: string): string
  /** Text to write by hand, for errors. */
  readonly byHand?: string
}

/**
 * Writes both files, the variables first, so that a gateway that watches them finds what the configuration names. Nothing is written
 * unless a gateway would accept the result. @returns whether the configuration changed
 * @throws CommandFailure
 */
export async function writeFiles(writing: Writing, io: Io): Promise<boolean> {
  const { file, variables = {}, edit, byHand } = writing
  const shown = shownPath(file, io)
  const text = await readFile(file, 'utf8')
  const edited = editOrFail(text, edit, shown, byHand)
  const set = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, io.env[name] || value]],
  )
  const env = { ...io.env, ...Object.fromEntries(set) }
  const checked = await checkText(file, edited, { ...io, env })
  if (!checked.ok && edited !== text)
    throw failure(
      `${shown} would not load with the change:\n\n${checked.text}\n\nThe file is unchanged. Fix it, and run the same command again.`,
    )
  // An editor may have written it just now.
  if ((await readFile(file, 'utf8')) !== text) return writeFiles(writing, io)
  const isAdding = set.length > 0
  try {
    if (isAdding) await setInEnvFile(envFileOf(file), variables, file)
    if (edited !== text) await replaceFile(file, edited)
    if (!isAdding) await setInEnvFile(envFileOf(file), variables, file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const why = `${shown} or the .env beside it cannot be written (${code}). Make both writable, and run the same command again.`
    throw unwritten(why, byHand, error)
  }
  return edited !== text
}

/** @throws CommandFailure where the layout of the file does not allow it */
export function editOrFail(
  text: string,
  edit: (text: string) => string,
  shown: string,
  byHand?: string,
): string {
  try {
    return edit(text)
  } catch (error) {
    if (!(error instanceof NotEditable)) throw error
    throw unwritten(`${shown}: ${error.message} The file is unchanged.`, byHand, error)
  }
}

function unwritten(why: string, byHand: string | undefined, cause: unknown): CommandFailure {
  const what = byHand === undefined ? '' : ` What belongs there:\n\n${byHand}`
  return failure(`${why}${what}`, { cause })
}

export function envFileOf(file: string): string {
  return path.join(path.dirname(file), '.env')
}
