/** Owns one parsed file: its value, and where in its text each part of the value stands. */

import { inTurns } from '../../turn.ts'
import type { Diagnostic, Place } from '../diagnostic/diagnostic.ts'
import type { Memory, Stages } from '../memory.ts'
import type { Path } from '../path.ts'
import { cutText } from './cut.ts'
import { type CutSource, parseCutText } from './cut-source.ts'
import { blankComments } from './json5-comments.ts'
import { scanLines } from './lines.ts'
import { createPlaces, type PlacesOptions } from './places.ts'
import { problemsOf } from './problems.ts'
import { parseWhole } from './whole-source.ts'

export interface Source {
  /** Absolute. */
  readonly file: string
  /** Relative to the configuration's folder, with `/`; of a preset `preset <name>`. */
  readonly name: string
  /** As YAML gives it; nothing checked yet. `null` for a file without content. */
  readonly value: unknown
  /** Whether its lists were cut: then it has no aliases. */
  readonly isCut: boolean
  /** The items of the list at `path`; nothing where there is none. */
  items(path: Path): readonly SourceItem[] | undefined
  /** Where the value at `path` stands, or its key, or the nearest thing above it that exists. */
  place(path: Path, at?: 'key' | 'value'): Place
  /** The line and column of {@link place}, which are found faster than the text of the line. */
  position(path: Path): Pick<Place, 'line' | 'column'>
  /** Where one character of the text at `path` stands; `offset` counts from 0 in UTF-16 units. */
  placeInText(path: Path, offset: number): Place
  /** Whether the text at `path` stands in single quotes, as a value between brackets or braces: JSON5 rather than YAML. */
  isSingleQuoted(path: Path): boolean
  /** The whole number at `path` as it was written, which may be one that the value cannot hold. */
  digits(path: Path): string | undefined
  /** Texts cut short because YAML took ` #` in front of a placeholder for the start of a comment. */
  cutTexts(below: Path): Place[]
}

/** An item of one of the lists that a source was asked to cut, the same from load to load while its text is. */
export interface SourceItem {
  readonly value: unknown
  /** What was made of it so far. */
  readonly stages: Stages
}

/** A file's text, read as YAML; or why it could not be. */
export type Parsed = { readonly source: Source } | { readonly problems: readonly Diagnostic[] }

export interface SourceOptions extends PlacesOptions {
  /** What the file is read as; one file can be read as several things. */
  readonly kind: 'configuration' | 'mappings' | 'schema'
  readonly name: string
  /** Without a byte order mark. */
  readonly text: string
  /** The lists whose items are parsed by themselves, where the text allows it. Default: none. */
  readonly lists?: readonly Path[]
}

/** What the next load needs of a parsed file. */
interface Kept {
  readonly options: Pick<SourceOptions, 'text' | 'name' | 'calledFile'>
  readonly parsed: Parsed
  readonly cut: CutSource | undefined
}

/** JSON is read as the YAML that it is. What an earlier load parsed already is not parsed again. */
export async function parseSource(options: SourceOptions, memory: Memory): Promise<Parsed> {
  const { kind, file, name, calledFile, text } = options
  const earlier = memory.recall<Kept>(kind, file)
  const same = earlier.find(
    ({ options: one }) => one.text === text && one.name === name && one.calledFile === calledFile,
  )
  const kept = same ?? (await parse(options, earlier))
  memory.note(kind, file, kept)
  return kept.parsed
}

async function parse(options: SourceOptions, earlier: readonly Kept[]): Promise<Kept> {
  const { name, calledFile, lists = [] } = options
  const { text, unclosed } = await inTurns(blankComments(options.text))
  const lines = await inTurns(scanLines(text))
  const kept = { name, text: options.text, ...(calledFile !== undefined && { calledFile }) }
  // What stands in a comment is not shown either.
  const blanked = { ...options, text }
  if (unclosed !== undefined) {
    const places = createPlaces(blanked, lines, () => [])
    const problems = problemsOf([{ code: 'OPEN_COMMENT', offset: unclosed }], places, lines, text)
    return { options: kept, parsed: { problems }, cut: undefined }
  }
  const map = lists.length > 0 ? await inTurns(cutText(text, lines, lists)) : undefined
  const known = earlier.flatMap(({ cut }) => cut ?? [])
  const cut = map && (await parseCutText(blanked, lines, map, known))
  return {
    options: kept,
    parsed: cut?.parsed ?? (await parseWhole(blanked, lines)),
    cut,
  }
}
