/** Writes a connection into the configuration and `.env`, and takes it out again. Comments and everything else stay. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Configuration, isRecord } from '@reveille/engine'
import { setInEnvFile } from '../../scaffold/add-to-env-file.ts'
import { makeChange } from '../../scaffold/change.ts'
import { type Edit, editConfiguration, valueAt as valueIn } from '../../scaffold/edit-configuration.ts'
import { NotEditable } from '../../scaffold/parsed-text.ts'
import { replaceFile } from '../../scaffold/replace-file.ts'
import { contentOf, documentOf } from '../../written-document.ts'
import { CommandFailure } from '../command-failure.ts'
import { formatDiagnostics, shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import { checkText } from './configured.ts'

type Path = readonly string[]

/** What the configuration is to say about an endpoint. References are written as such. */
export interface ConnectionEntry {
  readonly endpoint: string
  readonly provider: string
  /** The preset to add, unless a mapping of the configuration takes the endpoint. */
  readonly addsPreset: boolean
  /** The reference to the secret; undefined: what is written stays. */
  readonly secret: string | undefined
  readonly catchUp: Readonly<Record<string, unknown>> | undefined
}

/** The text with the connection in it. @throws NotEditable */
export function withConnection(text: string, entry: ConnectionEntry): string {
  const { endpoint, provider, addsPreset, secret, catchUp } = entry
  const policy = ['hooks', 'endpoints', endpoint]
  const verify = { provider, ...(secret !== undefined && { secret }) }
  return editConfiguration(text, [
    ...(addsPreset ? [presetEdit(provider, endpoint)] : []),
    { set: [...policy, 'verify'], to: verify, adds: true },
    ...(catchUp === undefined ? [] : [{ set: [...policy, 'catchUp'], to: catchUp, adds: true } as const]),
  ])
}

/** Adds the preset, unless it is listed: it serves one endpoint. */
export function presetEdit(preset: string, endpoint = preset): Edit {
  return {
    include: ['hooks', 'presets'],
    item: presetItem(preset, endpoint),
    is: (existing) => existing === preset || (isRecord(existing) && existing['name'] === preset),
  }
}

function presetItem(preset: string, endpoint: string) {
  return endpoint === preset ? preset : { name: preset, path: endpoint }
}

/** The text without what `withConnection` writes. Keys and presets that a person has changed stay. @throws NotEditable */
export function withoutConnection(text: string, endpoint: string, preset: string): string {
  const endpoints = ['hooks', 'endpoints']
  const policy = [...endpoints, endpoint]
  const hasOthers = (place: Path, own: readonly string[]) => {
    const written = valueAt(text, place)
    return isRecord(written) && Object.keys(written).some((key) => !own.includes(key))
  }
  const parts = ['verify', 'catchUp']
  const gone = hasOthers(policy, parts)
    ? parts.map((key) => [...policy, key])
    : [hasOthers(endpoints, [endpoint]) ? policy : endpoints]
  const isThere = valueAt(text, policy) !== undefined
  const edited = isThere ? gone.reduce(withoutKey, text) : text
  const listed = valueAt(edited, ['hooks', 'presets'])
  if (!Array.isArray(listed)) return edited
  const own = presetItem(preset, endpoint)
  const kept = listed.filter((item) => !isDeepStrictEqual(item, own))
  if (kept.length === listed.length) return edited
  return kept.length === 0
    ? withoutKey(edited, ['hooks', 'presets'])
    : makeChange(edited, { kind: 'put', path: ['hooks', 'presets'], value: kept })
}

function withoutKey(text: string, place: Path): string {
  return valueAt(text, place) === undefined ? text : makeChange(text, { kind: 'remove', path: place })
}

/** A value as it is written, with its references. */
export function valueAt(text: string, place: Path): unknown {
  return valueIn(contentOf(documentOf(text)), place)
}

/** The keys of the map at a path, as they are written. */
export function keysAt(text: string, place: Path): readonly string[] {
  return Object.keys(valueAt(text, place) ?? {})
}

/** The id of the webhook that a written policy names. */
export function hookIdIn(policy: unknown): string | undefined {
  const catchUp = isRecord(policy) ? policy['catchUp'] : undefined
  return isRecord(catchUp) ? String(catchUp['hookId']) : undefined
}

/** The variable that a written value refers to: `"${NAME}"` and `"${NAME:-}"`. */
export function variableIn(written: unknown): string | undefined {
  return typeof written === 'string' ? /^\$\{(\w+)(?::-)?\}$/.exec(written)?.[1] : undefined
}

export interface Writing {
  readonly file: string
  /** Variables to be set in `.env`; undefined removes one. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  edit(text: string): string
  /** What to write by hand, for errors. */
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
    throw new CommandFailure(
      1,
      `${shown} would not load with the change:\n\n${formatDiagnostics(checked.diagnostics, io)}\n\nThe file is unchanged. Fix it, and run the same command again.`,
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
  return new CommandFailure(1, `${why}${what}`, { cause })
}

export function envFileOf(file: string): string {
  return path.join(path.dirname(file), '.env')
}

/** The configuration of now. @throws CommandFailure where it does not load */
export async function configurationOf(file: string, text: string, io: Io): Promise<Configuration> {
  const checked = await checkText(file, text, io)
  if (checked.ok) return checked.configuration
  throw new CommandFailure(1, `${formatDiagnostics(checked.diagnostics, io)}\n\nFix this first.`)
}
