/** Writes the connection of a source into the configuration, and checks that this still loads with it. */

import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Configuration, coversPath } from '@reveille/engine'
import type { Connection } from '@reveille/kit'
import { stringify } from 'yaml'
import { type Edit, editConfiguration } from '../../scaffold/edit-configuration.ts'
import { type Configured, pathOfSource, readConfigured } from './configured.ts'
import { keysAt, presetEdit, writeFiles } from './connection-file.ts'
import type { Task } from './task.ts'

type Values = Readonly<Record<string, unknown>>
type Setting = Extract<Edit, { set: unknown }>

/**
 * What the file says already stays as it is, references included. The file is read again, because a consent takes time in
 * which it may have been edited. @returns whether it changed
 * @throws CommandFailure where it cannot be written; then the file is unchanged
 */
export async function writeConnection(
  name: string,
  connection: Connection,
  before: Configured,
  { file, shown, steps, io }: Task,
): Promise<boolean> {
  const { preset } = connection
  const editsIn = (text: string) => editsFor(text, name, connection, before)
  const isFirst = Object.keys(before.source).length === 0
  const isMissing = preset !== undefined && (isFirst || !isMapped(before.configuration, preset))
  const text = await readFile(file, 'utf8')
  const settings = editsIn(text)
  const changed = await writeFiles(
    {
      file,
      edit: (text) => editConfiguration(text, [...editsIn(text), ...(isMissing ? [presetEdit(preset)] : [])]),
      byHand: linesOf(name, connection),
    },
    io,
  )
  const isAdded = isMissing && editConfiguration(text, [presetEdit(preset)]) !== text
  const report = (step: string, isDone: boolean, done: string, unchanged: string) =>
    steps.report({ step, outcome: isDone ? 'done' : 'unchanged', detail: isDone ? done : unchanged })
  const isWritten = editConfiguration(text, settings) !== text
  report('configuration', isWritten, `${inWords(settings)} in ${shown}.`, `${shown} says it already.`)
  if (preset === undefined) return changed
  report('preset', isAdded, `Added ${preset} to hooks.presets in ${shown}.`, 'It need not be added.')
  const { configuration } = await readConfigured(file, name, io)
  // The preset is listed, and serves another endpoint.
  if (!isMapped(configuration, preset))
    steps.warn(`No mapping takes the endpoint ${preset}, where events are posted: they are ignored.`)
  return changed
}

/** Where another mapping takes the endpoint, the preset was left out on purpose. */
function isMapped({ mappings }: Configuration, endpoint: string): boolean {
  return mappings.some(({ value }) => coversPath(value.match?.path, endpoint))
}

function inWords(edits: readonly Setting[]): string {
  const namesOf = (isGone: boolean) =>
    edits.flatMap(({ set, to }) => ((to === undefined) === isGone ? [set.join('.')] : []))
  const [written, gone] = [namesOf(false), namesOf(true)]
  const parts = [
    ...(written.length === 0 ? [] : [`wrote ${written.join(' and ')}`]),
    ...(gone.length === 0 ? [] : [`took out ${gone.join(' and ')}`]),
  ]
  return parts.join(', ').replace(/^./, (first) => first.toUpperCase())
}

/** Leaves out what the file has already, as a value or by a reference. */
function editsFor(
  text: string,
  name: string,
  { config, endpoints = {} }: Connection,
  before: Configured,
): readonly Setting[] {
  const place = pathOfSource(name)
  // The other keys are about the preset.
  const keep = keysAt(text, place).filter((key) => !Object.hasOwn(before.written, key))
  const policies = Object.entries(endpoints).flatMap(([endpoint, policy]): readonly Setting[] => {
    if (Object.keys(policy).length === 0) return withoutVerify(text, endpoint)
    const was: Values = { ...before.configuration.endpoints[endpoint] }
    if (Object.entries(policy).every(([key, value]) => isDeepStrictEqual(value, was[key]))) return []
    const set = ['hooks', 'endpoints', endpoint]
    return [{ set, to: policy, was, keep: keysAt(text, set).filter((key) => !Object.hasOwn(policy, key)) }]
  })
  if (isDeepStrictEqual({ ...config }, { ...before.source })) return policies
  return [{ set: place, to: config, was: before.source, keep }, ...policies]
}

/** The endpoint is not used any more. What was written beside its verification stays. */
function withoutVerify(text: string, endpoint: string): readonly Setting[] {
  const endpoints = ['hooks', 'endpoints']
  const policy = [...endpoints, endpoint]
  const keys = keysAt(text, policy)
  if (!keys.includes('verify')) return []
  if (keys.length > 1) return [{ set: [...policy, 'verify'], to: undefined }]
  return [{ set: keysAt(text, endpoints).length > 1 ? policy : endpoints, to: undefined }]
}

/** The lines to write by hand. */
function linesOf(name: string, { config, endpoints = {}, preset }: Connection): string {
  const policies = Object.entries(endpoints).filter(([, policy]) => Object.keys(policy).length > 0)
  const hooks = {
    ...(preset !== undefined && { presets: [preset] }),
    ...(policies.length > 0 && { endpoints: Object.fromEntries(policies) }),
  }
  const [room = '', key = ''] = pathOfSource(name)
  return stringify(
    room === 'hooks' ? { hooks: { ...hooks, [key]: config } } : { hooks, [room]: { [key]: config } },
  )
}
