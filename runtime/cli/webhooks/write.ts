/** Writes a connection into the configuration, and checks that this still loads with it. */

import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { isOfGmailPreset } from '@reveille/engine'
import type { Connection } from '@reveille/kit'
import { stringify } from 'yaml'
import { type Edit, editConfiguration } from '../../scaffold/edit-configuration.ts'
import { NotEditable } from '../../scaffold/parsed-text.ts'
import { replaceFile } from '../../scaffold/replace-file.ts'
import { contentOf, documentOf } from '../../written-document.ts'
import { CommandFailure } from '../command-failure.ts'
import { formatDiagnostics, shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import { type CheckedText, type Configured, checkText } from './configured.ts'
import type { Steps } from './steps.ts'

type Values = Readonly<Record<string, unknown>>

const preset = 'gmail'

/**
 * What the file says already stays as it is, references included. The file is read again, because a consent takes time in
 * which it may have been edited. @throws CommandFailure where it cannot be written; then the file is as it was
 */
export async function writeConnection(
  file: string,
  connection: Connection,
  before: Configured,
  steps: Steps,
  io: Io,
): Promise<{ readonly changed: boolean }> {
  const shown = shownPath(file, io)
  const text = await readFile(file, 'utf8')
  const edits = editsFor(text, connection, before)
  const connected = editOrFail(text, edits, connection, shown)
  const isFirst = Object.keys(before.mailbox).length === 0
  const withPreset = () => editOrFail(connected, [presetEdit], connection, shown)
  let edited = isFirst ? withPreset() : connected
  let checked = await checkText(file, edited, io)
  if (!isFirst && isUnmapped(checked)) {
    edited = withPreset()
    checked = await checkText(file, edited, io)
  }
  if (edited !== text) {
    if (!checked.ok) {
      const why = formatDiagnostics(checked.diagnostics, io)
      throw new CommandFailure(1, `${shown} would not load with the mailbox in it:\n\n${why}\n\n${unwritten}`)
    }
    // An editor may have written it just now.
    if ((await readFile(file, 'utf8')) !== text) return writeConnection(file, connection, before, steps, io)
    await replaceOrFail(file, edited, connection, shown)
  }
  const report = (step: string, isDone: boolean, done: string, unchanged: string) =>
    steps.report(
      isDone ? { step, outcome: 'done', detail: done } : { step, outcome: 'unchanged', detail: unchanged },
    )
  const wrote = `${editsInWords(edits)} in ${shown}.`
  report('configuration', connected !== text, wrote, `${shown} says it already.`)
  const added = `Added ${preset} to hooks.presets in ${shown}.`
  report('preset', edited !== connected, added, 'It need not be added.')
  // The preset is listed, and the mailbox has another endpoint.
  if (isUnmapped(checked))
    steps.warn(`No mapping takes the endpoint ${preset}, where mails are posted: they are ignored.`)
  return { changed: edited !== text }
}

function editsInWords(edits: readonly Setting[]): string {
  const [gone = [], written = []] = [true, false].map((isGone) =>
    edits.filter(({ to }) => (to === undefined) === isGone).map(({ set }) => set.join('.')),
  )
  const parts = [
    ...(written.length === 0 ? [] : [`wrote ${written.join(' and ')}`]),
    ...(gone.length === 0 ? [] : [`took out ${gone.join(' and ')}`]),
  ]
  return parts.join(', ').replace(/^./, (first) => first.toUpperCase())
}

const unwritten = 'The file is unchanged. Fix it, and run the same command again.'

const presetEdit: Edit = {
  include: ['hooks', 'presets'],
  item: preset,
  is: (existing) =>
    existing === preset || (existing as { readonly name?: unknown } | null | undefined)?.name === preset,
}

type Setting = Extract<Edit, { set: unknown }>

/** Leaves out what the file has already, as a value or by a reference. */
function editsFor(
  text: string,
  { config, endpoints = {} }: Connection,
  before: Configured,
): readonly Setting[] {
  const place = ['hooks', 'gmail']
  const keep = keysAt(text, place).filter(isOfGmailPreset)
  const mailbox: Setting = { set: place, to: config, was: before.mailbox, keep }
  const policies = Object.entries(endpoints).flatMap(([name, policy]): readonly Setting[] => {
    if (isEmpty(policy)) return withoutVerify(text, name)
    const was: Values = { ...before.configuration.endpoints[name] }
    if (Object.entries(policy).every(([key, value]) => isDeepStrictEqual(value, was[key]))) return []
    const set = ['hooks', 'endpoints', name]
    const others = keysAt(text, set).filter((key) => !Object.hasOwn(policy, key))
    return [{ set, to: policy, was, keep: others }]
  })
  return isDeepStrictEqual({ ...config }, { ...before.mailbox }) ? policies : [mailbox, ...policies]
}

/** The push endpoint is not used any more. What was written beside its verification stays. */
function withoutVerify(text: string, name: string): readonly Setting[] {
  const endpoints = ['hooks', 'endpoints']
  const policy = [...endpoints, name]
  const keys = keysAt(text, policy)
  if (!keys.includes('verify')) return []
  if (keys.length > 1) return [{ set: [...policy, 'verify'], to: undefined }]
  return [{ set: keysAt(text, endpoints).length > 1 ? policy : endpoints, to: undefined }]
}

function keysAt(text: string, path: readonly string[]): readonly string[] {
  let value: unknown = contentOf(documentOf(text))
  for (const name of path) value = (value as Values | null | undefined)?.[name]
  return Object.keys(value ?? {})
}

/** Where another mapping takes the mails, the preset was left out on purpose. */
function isUnmapped(checked: CheckedText): boolean {
  return checked.ok && checked.warnings.some(({ code }) => code === 'MAIL_UNMAPPED')
}

/** @throws CommandFailure with the lines to write by hand */
function editOrFail(text: string, edits: readonly Edit[], connection: Connection, file: string): string {
  try {
    return editConfiguration(text, edits)
  } catch (error) {
    if (!(error instanceof NotEditable)) throw error
    throw failure(`${file}: ${error.message}`, connection, error)
  }
}

/** @throws CommandFailure with the lines to write by hand, where a folder, a disk or a container forbids writing */
async function replaceOrFail(file: string, text: string, connection: Connection, shown: string) {
  try {
    await replaceFile(file, text)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw failure(`${shown} cannot be replaced (${code}).`, connection, error)
  }
}

function failure(why: string, { config, endpoints = {} }: Connection, cause: unknown): CommandFailure {
  const policies = Object.fromEntries(Object.entries(endpoints).filter(([, policy]) => !isEmpty(policy)))
  const meant = { presets: [preset], ...(!isEmpty(policies) && { endpoints: policies }), gmail: config }
  return new CommandFailure(
    1,
    `${why} The file is as it was. What belongs there:\n\n${stringify({ hooks: meant })}`,
    { cause },
  )
}

function isEmpty(values: Values): boolean {
  return Object.keys(values).length === 0
}
