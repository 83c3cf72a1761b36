/** Owns how the bundler's messages are told: as diagnostics at the author's line, with what to do about it. */

import path from 'node:path'
import type * as Esbuild from 'esbuild'
import type { Diagnostic, Place } from '../../config/diagnostic/diagnostic.ts'
import { hintForImport } from './import-hint.ts'

/** Longer lines, as of minified code, are cut around what is meant; in UTF-16 units. */
const longestLine = 1000

/** Notes about options of the bundler, and about our own code that calls it. */
const addressedToOthers = /^You can (?:also )?(?:mark|use|surround)\b|^This error came from\b/

/** The folders of a bundling that hints name. */
export interface HintFolders {
  /** The folder that others are named from: the configuration's. */
  readonly shownFrom: string
  /** The folder of the transforms. */
  readonly root: string
}

export async function describeMessage(
  message: Esbuild.Message,
  severity: Diagnostic['severity'],
  folders: HintFolders,
): Promise<Diagnostic> {
  const { shownFrom } = folders
  const place = placeOf(message.location)
  const notes = message.notes.filter(({ text }) => !addressedToOthers.test(text))
  const [, specifier] = /^Could not resolve "(.*)"$/s.exec(message.text) ?? []
  const [, exporter, name] = /^No matching export in "(.*)" for import "(.*)"$/s.exec(message.text) ?? []
  const advice =
    specifier !== undefined && place && notes.length === 0
      ? await hintForImport(specifier, path.dirname(place.file), folders)
      : notes.map((note) => sentenceOf(note, shownFrom)).join(' ')
  return {
    severity,
    code: specifier === undefined && name === undefined ? 'TRANSFORM_SOURCE' : 'TRANSFORM_IMPORT',
    message: messageOf(),
    ...(place && { place }),
    ...(advice !== '' && { hint: advice }),
  }

  function messageOf(): string {
    if (specifier !== undefined) return `the import \`${specifier}\` leads nowhere`
    if (exporter !== undefined) return `\`${path.relative(shownFrom, exporter)}\` has no export \`${name}\``
    return message.text
  }
}

function placeOf(location: Esbuild.Location | null): Place | undefined {
  // A text that we made, such as the stand-in for an entry, is nobody's file.
  if (location === null || !path.isAbsolute(location.file)) return undefined
  const { file, line, lineText } = location
  const before = Buffer.from(lineText).subarray(0, location.column).toString().length
  if (lineText.length <= longestLine) return { file, line, column: before + 1, text: lineText }
  const from = Math.max(0, before - longestLine / 2)
  const text = lineText.slice(from, from + longestLine)
  return { file, line, column: before + 1, text, caret: before - from + 1 }
}

function sentenceOf({ text, location }: Esbuild.Note, shownFrom: string): string {
  if (location === null || !path.isAbsolute(location.file)) return text
  const place = `${path.relative(shownFrom, location.file)}:${location.line}:${location.column + 1}`
  return `${text.replace(/[:.]$/, '')} (${place}).`
}
