/** Owns one parsed file: its value, and where in its text each part of the value stands. */

import { type Alias, type Document, isAlias, isScalar, LineCounter, parseDocument, Scalar, visit } from 'yaml'
import type { Diagnostic, Place } from '../diagnostic/diagnostic.ts'
import type { Path } from '../path.ts'
import { findNode } from './node-finder.ts'
import { createPlaces, type Places, type PlacesOptions } from './places.ts'
import { offsetInRaw } from './scalar-offset.ts'
import { explainSyntax } from './syntax.ts'

export interface Source {
  /** Absolute. */
  readonly file: string
  /** Relative to the configuration's folder, with `/`; of a preset `preset <name>`. */
  readonly name: string
  /** As YAML gives it; nothing checked yet. `null` for a file without content. */
  readonly value: unknown
  /** Where the value at `path` stands, or its key, or the nearest thing above it that exists. */
  place(path: Path, at?: 'key' | 'value'): Place
  /** Where one character of the text at `path` stands; `offset` counts from 0 in UTF-16 units. */
  placeInText(path: Path, offset: number): Place
  /** The whole number at `path` as it was written, which may be one that the value cannot hold. */
  digits(path: Path): string | undefined
  /** Texts cut short because YAML took ` #` in front of a placeholder for the start of a comment. */
  cutTexts(below: Path): Place[]
}

/** A file's text, read as YAML; or why it could not be. */
export type Parsed = { readonly source: Source } | { readonly problems: readonly Diagnostic[] }

export interface SourceOptions extends PlacesOptions {
  readonly name: string
  /** Without a byte order mark. */
  readonly text: string
}

/** How often anchors may be expanded, nested ones multiplied; a bomb is stopped before it goes off. */
const aliasLimit = 10_000

/** JSON is read as the YAML that it is. */
export function parseSource(options: SourceOptions): Parsed {
  const lines = new LineCounter()
  const document = parseDocument(options.text, {
    lineCounter: lines,
    merge: true,
    stringKeys: true,
    prettyErrors: false,
    resolveKnownTags: false,
    logLevel: 'error',
  })
  const places = createPlaces(options, document, lines)
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    const problems = faults.map((fault) => {
      const place = places.at(fault.pos[0], true)
      return { severity: 'error' as const, place, ...explainSyntax(fault.code, place.text, options.text) }
    })
    return { problems: firstPerLine(problems) }
  }
  const lost = options.text.includes('*') ? unresolvedAlias(document) : undefined
  if (lost) return { problems: [{ ...brokenAlias, place: places.at(lost.range?.[0] ?? 0) }] }
  try {
    const value: unknown = document.toJS({ maxAliasCount: aliasLimit })
    return {
      source: {
        file: options.file,
        name: options.name,
        value,
        ...createReader(document, places, options.text),
      },
    }
  } catch (cause) {
    // The one error left to `toJS` is the alias limit.
    if (!(cause instanceof ReferenceError)) throw cause
    return { problems: [{ ...aliasBomb, place: places.at(firstAlias(document)?.range?.[0] ?? 0) }] }
  }
}

/** The alias is not named: it may be a secret that lacks its quotes. */
const brokenAlias = {
  severity: 'error',
  code: 'YAML_SYNTAX',
  message: 'This alias has no anchor before it',
  hint: 'Text that begins with `*` needs quotes; an anchor is written `&name` before its first alias.',
} as const

const aliasBomb = {
  severity: 'error',
  code: 'TOO_MANY_ALIASES',
  message: `The file's aliases expand to more than ${aliasLimit} copies`,
  hint: 'Write fewer aliases of anchors that hold aliases themselves.',
} as const

/** One mistake often makes several errors on its line; the first is the one to mend. */
function firstPerLine(problems: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<number | undefined>()
  return problems.filter(({ place }) => !seen.has(place?.line) && seen.add(place?.line))
}

/** Asked of the whole document at once: an alias that resolves itself searches all that stands before it. */
function unresolvedAlias(document: Document): Alias | undefined {
  const anchors = new Set<string>()
  let lost: Alias | undefined
  visit(document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor)
        return
      }
      if (anchors.has(node.source)) return
      lost = node
      return visit.BREAK
    },
  })
  return lost
}

function firstAlias(document: Document): Alias | undefined {
  let first: Alias | undefined
  visit(document, {
    Alias(_, alias) {
      first = alias
      return visit.BREAK
    },
  })
  return first
}

function createReader(
  document: Document,
  places: Places,
  text: string,
): Pick<Source, 'place' | 'placeInText' | 'digits' | 'cutTexts'> {
  const nodeAt = (path: Path) => {
    const { value } = findNode(document, path)
    return isAlias(value) ? value.resolve(document) : value
  }
  return {
    place(path, at = 'value') {
      const { key, value } = findNode(document, path)
      const node = at === 'key' ? (key ?? value) : (value ?? key)
      return places.at(node?.range?.[0] ?? 0)
    },
    placeInText(path, offset) {
      const node = nodeAt(path)
      if (!isScalar(node) || !node.range) return this.place(path)
      const raw = text.slice(node.range[0], node.range[1])
      return places.at(node.range[0] + offsetInRaw(raw, String(node.value), offset))
    },
    digits(path) {
      const node = nodeAt(path)
      const written = isScalar(node) && typeof node.value === 'number' ? node.source : undefined
      return written === undefined ? undefined : /^\+?(-?\d+)$/.exec(written)?.[1]
    },
    cutTexts(below) {
      const cut: Place[] = []
      const { value } = findNode(document, below)
      if (!value) return cut
      visit(value, {
        Scalar(_, scalar) {
          const { comment, range, type } = scalar
          if (type === Scalar.PLAIN && comment && range && /^\{\{|^\{%/.test(comment))
            cut.push(places.at(range[1]))
        },
      })
      return cut
    },
  }
}
