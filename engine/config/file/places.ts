/** Owns places in one file: where an offset stands, and its line as it may be shown. */

import { type Document, isMap, isPair, isScalar, isSeq, type Node, type Pair, visit } from 'yaml'
import type { Place } from '../diagnostic/diagnostic.ts'
import type { Path } from '../path.ts'
import {
  addressSecretsOf,
  continuesSecret,
  isCalledSecret,
  isSecretKey,
  type MaskedLine,
  maskLine,
  type Span,
  secretSpansOf,
} from '../secret.ts'
import { type Lines, lineAt } from './lines.ts'

export interface PlacesOptions {
  readonly file: string
  /** As of a {@link Place}. */
  readonly calledFile?: string | undefined
  readonly text: string
  /** Whether secrets may stand under this path; where not, nothing deeper is hidden either. */
  holdsSecrets(path: Path): boolean
}

export interface Places {
  /** `unsure`: the text was not understood, so its lines are searched for secrets too. */
  at(offset: number, unsure?: boolean): Place
}

/** `secretsAt`: the spans of the file that hold secrets, at least those on the line that begins at this offset. */
export function createPlaces(
  { file, calledFile, text }: PlacesOptions,
  lines: Lines,
  secretsAt: (lineStart: number) => readonly Span[],
): Places {
  return {
    at(offset, unsure = false) {
      const { line, column } = lineAt(lines, Math.min(offset, text.length))
      const start = lines.starts[line - 1] ?? 0
      const next = text.indexOf('\n', start)
      const content = text.slice(start, next < 0 ? text.length : next).replace(/\r$/, '')
      const spans = secretsAt(start)
        .filter((span) => span.start < start + content.length && span.end > start)
        .map((span) => clip({ start: span.start - start, end: span.end - start }, content))
      spans.push(...addressSecretsOf(content))
      if (unsure && continuesSecret(text.slice(0, start), content)) {
        spans.splice(0, spans.length, clip({ start: 0, end: content.length }, content))
      } else if (unsure) spans.push(...secretSpansOf(content))
      const masked = windowOf(maskLine(content, spans, column))
      const place = { file, ...(calledFile !== undefined && { calledFile }), line, column, text: masked.text }
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

/** The spans of a document's secrets; `above` is the path of its root in the file. */
export function secretSpansIn(
  document: Document,
  above: Path,
  holdsSecrets: PlacesOptions['holdsSecrets'],
): Span[] {
  const spans: Span[] = []
  visit(document, {
    Pair(_, pair, ancestors) {
      if (!holdsSecrets([...above, ...pathOf([...ancestors, pair])])) return visit.SKIP
      if (!isScalar(pair.key) || typeof pair.key.value !== 'string') return
      if (isAllowance(pair.key.value, ancestors) || isDemand(pair)) return
      const isSecret = isNamedMap(pair, ancestors) ? isCalledSecret : isSecretKey
      if (!isSecret(pair.key.value) && !isInPlaceOfMap(pair, ancestors)) return
      // A list keeps its dashes; in a map even the keys may be parts of a secret that lacks its quotes.
      for (const node of isSeq(pair.value) ? pair.value.items : [pair.value]) {
        const range = (node as Node | null)?.range
        if (range) spans.push({ start: range[0], end: range[1] })
      }
    },
  })
  return spans
}

/** `endpoints: { open: { … } }`: a name is like any word, and what a map of ours holds is looked at by itself. */
function isNamedMap({ value }: Pair, ancestors: readonly unknown[]): boolean {
  return isMap(value) && namedMaps.has(String(pathOf(ancestors).at(-1)))
}
const namedMaps = new Set(['channels', 'endpoints', 'providers', 'runners', 'sources'])

/** `budget: { tokens: 5000 }`: those are counted, not kept. */
function isAllowance(key: string, ancestors: readonly unknown[]): boolean {
  return key === 'tokens' && pathOf(ancestors).at(-1) === 'budget'
}

/** `auth: both` of an endpoint: what is asked for, and not with what. */
function isDemand({ key, value }: Pair): boolean {
  return isScalar(key) && key.value === 'auth' && isScalar(value) && demands.has(String(value.value))
}
const demands = new Set(['token', 'signature', 'both', 'none'])

/**
 * `telegram: 123:abc`, `verify: whsec_abc`: the one text that somebody would write where a channel's map or that of a policy
 * belongs is its token or secret.
 */
function isInPlaceOfMap({ key, value }: Pair, ancestors: readonly unknown[]): boolean {
  if (!isScalar(value) && !isSeq(value)) return false
  const isOfSender = isScalar(key) && /^(verify|hmac)$/.test(String(key.value))
  return isOfSender || /^(channels|providers|endpoints)$/.test(String(pathOf(ancestors).at(-1)))
}

function pathOf(nodes: readonly unknown[]): Path {
  const path: (string | number)[] = []
  nodes.forEach((node, index) => {
    if (isPair(node) && isScalar(node.key)) path.push(String(node.key.value))
    else if (isSeq(node)) path.push(node.items.indexOf(nodes[index + 1]))
  })
  return path
}
