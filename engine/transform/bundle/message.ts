/** Turns esbuild's messages into diagnostics at the author's line, with hints. */

import path from 'node:path'
import type * as Esbuild from 'esbuild'
import type { Diagnostic, Place } from '../../config/file/diagnostic.ts'
import { type HintFolders, hintForImport } from './import-hint.ts'

/** Longer lines, such as those of minified code, are cut around the error. In UTF-16 units. */
const maxLineLength = 1000

/** Notes about options of esbuild, and about our own code that calls it, on which no author can act. */
const notForAuthors = /^You can (?:also )?(?:mark|use|surround)\b|^This error came from\b/

export async function describeMessage(
  message: Esbuild.Message,
  severity: Diagnostic['severity'],
  folders: HintFolders,
): Promise<Diagnostic> {
  const { shownFrom } = folders
  const place = placeOf(message.location)
  const notes = message.notes.filter(({ text }) => !notForAuthors.test(text))
  const { specifier, folder } = unresolvedIn(message) ?? {}
  const [, exporter, name] = /^No matching export in "(.*)" for import "(.*)"$/s.exec(message.text) ?? []
  const advice =
    specifier !== undefined && folder !== undefined && notes.length === 0
      ? await hintForImport(specifier, folder, folders)
      : notes.map((note) => sentenceOf(note, shownFrom)).join(' ')
  return {
    severity,
    code: specifier === undefined && name === undefined ? 'TRANSFORM_SOURCE' : 'TRANSFORM_IMPORT',
    message: messageOf(),
    ...(place && { place }),
    ...(advice !== '' && { hint: advice }),
  }

  function messageOf(): string {
    if (specifier !== undefined) return `the ${kindOf(specifier)} \`${specifier}\` was not found`
    if (exporter !== undefined) return `\`${path.relative(shownFrom, exporter)}\` has no export \`${name}\``
    return message.text
  }
}

function kindOf(specifier: string): string {
  if (/^[./]/.test(specifier)) return 'file'
  return specifier.startsWith('#') ? 'import' : 'package'
}

/** Returns the missing import of a message, and the folder of the importing file. */
export function unresolvedIn({
  text,
  location,
}: Esbuild.Message): { readonly specifier: string; readonly folder: string | undefined } | undefined {
  const [, specifier] = /^Could not resolve "(.*)"$/s.exec(text) ?? []
  if (specifier === undefined) return undefined
  const isFile = location !== null && path.isAbsolute(location.file)
  return { specifier, folder: isFile ? path.dirname(location.file) : undefined }
}

function placeOf(location: Esbuild.Location | null): Place | undefined {
  // The entry in front of a CommonJS module is not a file.
  if (location === null || !path.isAbsolute(location.file)) return undefined
  const { file, line, lineText } = location
  const before = Buffer.from(lineText).subarray(0, location.column).toString().length
  if (lineText.length <= maxLineLength) return { file, line, column: before + 1, text: lineText }
  const from = Math.max(0, before - maxLineLength / 2)
  const text = lineText.slice(from, from + maxLineLength)
  return { file, line, column: before + 1, text, caret: before - from + 1 }
}

function sentenceOf({ text, location }: Esbuild.Note, shownFrom: string): string {
  if (location === null || !path.isAbsolute(location.file)) return text
  const place = `${path.relative(shownFrom, location.file)}:${location.line}:${location.column + 1}`
  return `${text.replace(/[:.]$/, '')} (${place}).`
}
