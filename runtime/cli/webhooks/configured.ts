/** Owns what a configuration says of the mailbox before it is set up, also where just that is what is wrong with it. */

import { readFile } from 'node:fs/promises'
import {
  type Configuration,
  type Diagnostic,
  isOfGmailPreset,
  type Loaded,
  loadConfiguration,
  realFiles,
} from '@reveille/engine'
import { isMap } from 'yaml'
import { presetsFolder } from '../../presets-folder.ts'
import { contentOf, documentOf } from '../../written-document.ts'
import { withCompiled } from '../authoring/compile.ts'
import { CommandFailure } from '../command-failure.ts'
import { formatDiagnostics } from '../configuration.ts'
import type { Io } from '../io.ts'

export interface Configured {
  readonly configuration: Configuration
  /** References resolved. */
  readonly mailbox: Readonly<Record<string, unknown>>
}

/** @throws CommandFailure where something else than the mailbox is wrong: before anybody consents for nothing */
export async function readConfigured(file: string, io: Io): Promise<Configured> {
  const text = await readFile(file, 'utf8')
  const whole = await tryText(file, text, io)
  if (whole.ok) {
    const { configuration } = whole
    return { configuration, mailbox: configuration.settings.sources['gmail'] ?? {} }
  }
  const stood = withStandIns(text)
  const standing = stood && (await tryText(file, stood.text, io))
  if (stood !== undefined && standing?.ok) {
    const { configuration } = standing
    const mailbox = Object.entries(configuration.settings.sources['gmail'] ?? {})
    return {
      configuration,
      mailbox: Object.fromEntries(mailbox.filter(([key]) => !stood.keys.includes(key))),
    }
  }
  const without = withoutMailbox(text)
  const rest = without && (await tryText(file, without.text, io))
  if (without === undefined || !rest?.ok) {
    throw new CommandFailure(1, `${formatDiagnostics(errorsOf(whole.diagnostics), io)}\n\nMend this first.`)
  }
  return { configuration: rest.configuration, mailbox: without.mailbox }
}

/** What setup will write, and may be all that is missing. */
const standIns = {
  account: 'nobody@example.com',
  topic: 'projects/nowhere/topics/nothing',
  subscription: 'projects/nowhere/subscriptions/nothing',
}

/** The text with these in their places, so that the rest is read as it is meant. Undefined where none of them is missing. */
function withStandIns(text: string): { readonly text: string; readonly keys: readonly string[] } | undefined {
  const document = documentOf(text)
  if (document.errors.length > 0 || !isMap(document.getIn(['hooks', 'gmail']))) return undefined
  const missing = Object.entries(standIns).filter(([key]) => !document.hasIn(['hooks', 'gmail', key]))
  if (missing.length === 0) return undefined
  for (const [key, value] of missing) document.setIn(['hooks', 'gmail', key], value)
  return { text: String(document), keys: missing.map(([key]) => key) }
}

export type Tried =
  | {
      readonly ok: true
      readonly configuration: Configuration
      readonly warnings: readonly Diagnostic[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** Whether a gateway would take the file if this were its text. */
export async function tryText(file: string, text: string, io: Io): Promise<Tried> {
  return withCompiled(
    await loadText(file, text, io),
    io,
    (compiled) => {
      if (!compiled.ok) return { ok: false, diagnostics: errorsOf(compiled.diagnostics) }
      const { configuration, warnings } = compiled
      return { ok: true, configuration, warnings }
    },
    { asksPlugins: true },
  )
}

function loadText(file: string, text: string, io: Io): Promise<Loaded> {
  const files = {
    ...realFiles,
    readFile: async (path: string) => (path === file ? Buffer.from(text) : realFiles.readFile(path)),
  }
  return loadConfiguration({ file, env: io.env, presets: presetsFolder(), files })
}

function errorsOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error')
}

/**
 * The text without the mailbox, to look at the rest, and the mailbox. Undefined where there is none to leave out, or where
 * it has references: what those lead to, perhaps for the gateway alone, is not to be replaced by what is usual.
 */
function withoutMailbox(
  text: string,
): { readonly text: string; readonly mailbox: Readonly<Record<string, unknown>> } | undefined {
  const document = documentOf(text)
  if (document.errors.length > 0 || !document.hasIn(['hooks', 'gmail'])) return undefined
  const { hooks } = contentOf(document) as { hooks: { gmail: unknown } }
  const entries = Object.entries(hooks.gmail ?? {})
  if (entries.some(([, value]) => JSON.stringify(value)?.includes('${'))) return undefined
  document.setIn(['hooks', 'gmail'], Object.fromEntries(entries.filter(([key]) => isOfGmailPreset(key))))
  const mailbox = entries.filter(([key]) => !isOfGmailPreset(key))
  return { text: String(document), mailbox: Object.fromEntries(mailbox) }
}
