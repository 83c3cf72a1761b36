/** Owns one parsed file: its value, and where in its text each part of the value stands. */

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
} from 'yaml'
import type { Diagnostic, Place } from './diagnostic.ts'
import type { Path } from './path.ts'
import { offsetInRaw } from './scalar-offset.ts'
import {
  addressSecretsOf,
  isSecretKey,
  type MaskedLine,
  maskLine,
  type Span,
  secretSpansOf,
} from './secret.ts'
import { explainSyntax } from './syntax.ts'

export interface Source {
  /** Absolute. */
  readonly file: string
  /** Relative to the configuration's folder, with `/`. */
  readonly name: string
  /** As YAML gives it; nothing checked yet. `null` for a file without content. */
  readonly value: unknown
  /** Where the value at `path` stands, or its key, or the nearest thing above it that exists. */
  place(path: Path, at?: 'key' | 'value'): Place
  /** Where one character of the text at `path` stands; `offset` counts from 0 in UTF-16 units. */
  placeInText(path: Path, offset: number): Place
  /** Texts cut short because YAML took ` #` in front of a placeholder for the start of a comment. */
  cutTexts(below: Path): Place[]
}

export interface SourceOptions {
  readonly file: string
  readonly name: string
  /** Without a byte order mark. */
  readonly text: string
  /** Whether secrets may stand under this path; where not, nothing deeper is hidden either. */
  holdsSecrets(path: Path): boolean
}

/** How often anchors may be expanded, nested ones multiplied; a bomb is stopped before it goes off. */
const aliasLimit = 10_000

/** JSON is read as the YAML that it is. */
export function parseSource(options: SourceOptions): { source: Source } | { problems: Diagnostic[] } {
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

interface Places {
  /** `unsure`: the text was not understood, so its lines are searched for secrets too. */
  at(offset: number, unsure?: boolean): Place
}

function createPlaces(options: SourceOptions, document: Document, lines: LineCounter): Places {
  const { file, text } = options
  let secrets: Span[] | undefined
  return {
    at(offset, unsure = false) {
      const found = lines.linePos(Math.min(offset, text.length))
      const line = Math.max(1, found.line)
      const column = Math.max(1, found.col)
      const start = lines.lineStarts[line - 1] ?? 0
      const next = text.indexOf('\n', start)
      const content = text.slice(start, next < 0 ? text.length : next).replace(/\r$/, '')
      secrets ??= secretSpans(document, options)
      const spans = secrets
        .filter((span) => span.start < start + content.length && span.end > start)
        .map((span) => clip({ start: span.start - start, end: span.end - start }, content))
      spans.push(...addressSecretsOf(content))
      if (unsure) spans.push(...secretSpansOf(content))
      const masked = windowOf(maskLine(content, spans, column))
      const place = { file, line, column, text: masked.text }
      return masked.caret === column ? place : { ...place, caret: masked.caret }
    },
  }
}

/** A file on one line must not repeat itself in each of its diagnostics. */
const longestText = 400

function windowOf({ text, caret }: MaskedLine): MaskedLine {
  if (text.length <= longestText) return { text, caret }
  const start = Math.max(0, caret - longestText / 2)
  return { text: text.slice(start, start + longestText), caret: caret - start }
}

/** The span's part of one line, without the white space around it. */
function clip(span: Span, line: string): Span {
  const start = Math.max(0, span.start)
  const end = Math.min(line.length, span.end)
  const inside = line.slice(start, end)
  const lead = inside.length - inside.trimStart().length
  return { start: start + lead, end: Math.max(start + lead, start + inside.trimEnd().length) }
}

function secretSpans(document: Document, options: SourceOptions): Span[] {
  const spans: Span[] = []
  visit(document, {
    Pair(_, pair, ancestors) {
      if (!options.holdsSecrets(pathOf([...ancestors, pair]))) return visit.SKIP
      if (!isScalar(pair.key) || typeof pair.key.value !== 'string' || !isSecretKey(pair.key.value)) return
      // A list keeps its dashes; in a map even the keys may be parts of a secret that lacks its quotes.
      for (const node of isSeq(pair.value) ? pair.value.items : [pair.value]) {
        const range = (node as Node | null)?.range
        if (range) spans.push({ start: range[0], end: range[1] })
      }
    },
  })
  return spans
}

function pathOf(nodes: readonly unknown[]): Path {
  const path: (string | number)[] = []
  nodes.forEach((node, index) => {
    if (isPair(node) && isScalar(node.key)) path.push(String(node.key.value))
    else if (isSeq(node)) path.push(node.items.indexOf(nodes[index + 1]))
  })
  return path
}

function unresolvedAlias(document: Document): Alias | undefined {
  let lost: Alias | undefined
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return
      lost = alias
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
): Pick<Source, 'place' | 'placeInText' | 'cutTexts'> {
  return {
    place(path, at = 'value') {
      const { key, value } = find(document, path)
      const node = at === 'key' ? (key ?? value) : (value ?? key)
      return places.at(node?.range?.[0] ?? 0)
    },
    placeInText(path, offset) {
      const { value } = find(document, path)
      const node = isAlias(value) ? value.resolve(document) : value
      if (!isScalar(node) || !node.range) return this.place(path)
      const raw = text.slice(node.range[0], node.range[1])
      return places.at(node.range[0] + offsetInRaw(raw, String(node.value), offset))
    },
    cutTexts(below) {
      const cut: Place[] = []
      const { value } = find(document, below)
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

interface Found {
  readonly key?: Node
  readonly value?: Node
}

/** The node at the path, or the deepest one on the way to it. */
function find(document: Document, path: Path): Found {
  let found: Found = document.contents ? { value: document.contents } : {}
  for (const segment of path) {
    const holder = isAlias(found.value) ? found.value.resolve(document) : found.value
    const next: Found | undefined = isMap(holder)
      ? findPair(document, holder, String(segment))
      : isSeq(holder)
        ? { value: holder.items[Number(segment)] as Node }
        : undefined
    if (!next || (!next.key && !next.value)) return found
    found = next
  }
  return found
}

function findPair(document: Document, map: YAMLMap, name: string): Found | undefined {
  const pairs = map.items as Pair<Scalar, Node | null>[]
  const own = pairs.find((pair) => pair.key.value === name)
  if (own) return { key: own.key, value: own.value ?? undefined }
  for (const pair of pairs) {
    if (pair.key.value !== '<<') continue
    for (const merged of isSeq(pair.value) ? pair.value.items : [pair.value]) {
      const target = isAlias(merged) ? merged.resolve(document) : merged
      const inherited = isMap(target) && findPair(document, target, name)
      if (inherited) return inherited
    }
  }
  return undefined
}
