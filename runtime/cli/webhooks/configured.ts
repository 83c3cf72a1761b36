/** Reads what a configuration says about the mailbox before it is set up, also where only that part is wrong. */

import { readFile } from 'node:fs/promises'
import { type Configuration, type Diagnostic, isOfGmailPreset } from '@reveille/engine'
import { isMap } from 'yaml'
import { contentOf, documentOf } from '../../written-document.ts'
import { withCompiled } from '../authoring/compile.ts'
import { CommandFailure } from '../command-failure.ts'
import { formatDiagnostics, loadText } from '../configuration.ts'
import type { Io } from '../io.ts'

export interface Configured {
  readonly configuration: Configuration
  /** The keys of the mailbox, with references resolved. */
  readonly mailbox: Readonly<Record<string, unknown>>
}

type Values = Readonly<Record<string, unknown>>

/** A text to check instead of the one in the file, and the mailbox that the file says where this text is right. */
interface Attempt {
  readonly text: string
  mailboxOf(configured: Values): Values
}

/** @throws CommandFailure where anything but the mailbox is wrong, so that no consent is given for nothing */
export async function readConfigured(file: string, io: Io): Promise<Configured> {
  const text = await readFile(file, 'utf8')
  let why: readonly Diagnostic[] | undefined
  for (const attemptWith of [asWritten, withPlaceholders, withoutMailbox]) {
    const attempt = attemptWith(text)
    if (attempt === undefined) continue
    const checked = await checkText(file, attempt.text, io)
    if (checked.ok) {
      const { configuration } = checked
      return { configuration, mailbox: attempt.mailboxOf(configuration.settings.sources['gmail'] ?? {}) }
    }
    why ??= checked.diagnostics
  }
  throw new CommandFailure(1, `${formatDiagnostics(why ?? [], io)}\n\nFix this first.`)
}

function asWritten(text: string): Attempt {
  return { text, mailboxOf: (all) => all }
}

/** Values for the keys that setup will write, which may be all that is missing. */
const placeholders = {
  account: 'nobody@example.com',
  topic: 'projects/nowhere/topics/nothing',
  subscription: 'projects/nowhere/subscriptions/nothing',
}

/** The text with placeholders for missing keys, so that the rest can be checked. Undefined where none is missing. */
function withPlaceholders(text: string): Attempt | undefined {
  const document = documentOf(text)
  if (document.errors.length > 0 || !isMap(document.getIn(['hooks', 'gmail']))) return undefined
  const missing = Object.entries(placeholders).filter(([key]) => !document.hasIn(['hooks', 'gmail', key]))
  if (missing.length === 0) return undefined
  for (const [key, value] of missing) document.setIn(['hooks', 'gmail', key], value)
  const keys = missing.map(([key]) => key)
  return {
    text: String(document),
    mailboxOf: (all) => Object.fromEntries(Object.entries(all).filter(([key]) => !keys.includes(key))),
  }
}

export type CheckedText = Awaited<ReturnType<typeof checkText>>

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

/**
 * Separates the mailbox from the text, so that the rest can be checked. Undefined where there is no mailbox, or where it
 * has references, since their values, which perhaps only the gateway has, must not be replaced by defaults.
 */
function withoutMailbox(text: string): Attempt | undefined {
  const document = documentOf(text)
  if (document.errors.length > 0 || !document.hasIn(['hooks', 'gmail'])) return undefined
  const { hooks } = contentOf(document) as { hooks: { gmail: unknown } }
  const entries = Object.entries(hooks.gmail ?? {})
  if (entries.some(([, value]) => JSON.stringify(value)?.includes('${'))) return undefined
  document.setIn(['hooks', 'gmail'], Object.fromEntries(entries.filter(([key]) => isOfGmailPreset(key))))
  const mailbox = Object.fromEntries(entries.filter(([key]) => !isOfGmailPreset(key)))
  return { text: String(document), mailboxOf: () => mailbox }
}
