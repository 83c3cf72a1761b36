/** Takes the fields of the answer of a turn out of JSON values. */

import type { Progress } from '@reveille/kit'
import type {
  FieldConfiguration,
  MatchConfiguration,
  OutputConfiguration,
  UsageConfiguration,
} from '../configuration.ts'

export interface Reading {
  /** The reply; undefined if the output holds none. */
  readonly reply: string | undefined
  readonly session?: string
  /** The program's own sentence about an error, which is possible even with exit code 0. */
  readonly error?: string
  readonly model?: string
  readonly tokens: Tokens
  /** The first characters of an output that could not be read at all. */
  readonly unreadable?: string
}

export const tokenKinds = ['input', 'output', 'cached', 'reasoning'] as const
type TokenKind = (typeof tokenKinds)[number]
export type Tokens = Readonly<Partial<Record<TokenKind, number>>>

/** Returns the values at a place; none if the path ends early. */
type Pointer = (value: unknown) => readonly unknown[]

/**
 * Compiles a JSON pointer (RFC 6901), in which `*` additionally matches every member of an object or an array, since programs
 * count tokens under the names of models.
 */
function compilePointer(text: string): Pointer {
  const tokens = text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return (value) => tokens.reduce<readonly unknown[]>(step, [value])
}

function step(values: readonly unknown[], token: string): readonly unknown[] {
  return values.flatMap((value): readonly unknown[] => {
    if (typeof value !== 'object' || value === null) return []
    if (token === '*') return Object.values(value)
    return Object.hasOwn(value, token) ? [(value as Record<string, unknown>)[token]] : []
  })
}

type Match = (value: unknown) => boolean

/** Compiles conditions; without any, everything matches. */
function compileMatch(conditions: MatchConfiguration = {}): Match {
  const checks = Object.entries(conditions).map(([text, wanted]) => {
    const pointer = compilePointer(text)
    return (value: unknown) => pointer(value).includes(wanted)
  })
  return (value) => checks.every((check) => check(value))
}

/** Compiles a field, which finds nothing in a value that does not match or if no field is configured. */
function compileField(field: FieldConfiguration | undefined): Pointer {
  if (field === undefined) return () => []
  if (typeof field === 'string') return compilePointer(field)
  const match = compileMatch(field.match)
  const pointer = compilePointer(field.at)
  return (value) => (match(value) ? pointer(value) : [])
}

/** Returns a function that creates collectors, each of the fields of all values of one output. */
export function compileFields(output: OutputConfiguration) {
  const text = compileField(output.text)
  const session = compileField(output.session)
  const error = compileField(output.error)
  const model = compileField(output.model)
  const count = compileUsage(output.usage ?? {})

  return function createCollector() {
    let reply: string | undefined
    let named: string | undefined
    let failure: string | undefined
    let answeredBy: string | undefined
    const tokens: Partial<Record<TokenKind, number>> = {}
    return {
      add(value: unknown) {
        reply = joinedText(text(value)) ?? reply
        named = nameOf(session(value)) ?? named
        failure = errorTextOf(error(value)) ?? failure
        answeredBy = nameOf(model(value)) ?? answeredBy
        for (const [kind, number] of count(value)) tokens[kind] = (tokens[kind] ?? 0) + number
      },
      end(): Reading {
        // A program that only reports a failure gives the reason in place of its reply.
        const error = failure === '' ? (reply?.trim() ?? '') || 'it gave no reason' : failure
        return { reply, session: named, error, model: answeredBy, tokens }
      },
    }
  }
}

/** Joins the texts of several places; null is an empty reply. */
function joinedText(values: readonly unknown[]): string | undefined {
  if (values.length === 0) return undefined
  return values
    .map((value) => (typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)))
    .join('')
}

function nameOf(values: readonly unknown[]): string | undefined {
  return values.findLast((value) => typeof value === 'string' && value !== '') as string | undefined
}

/** Returns the program's error text, which is empty if the program only reports that it failed. */
function errorTextOf(values: readonly unknown[]): string | undefined {
  const value = values.findLast((each) => each !== null && each !== false && each !== '')
  if (value === undefined) return undefined
  if (typeof value === 'string') return value
  if (typeof value !== 'object') return ''
  for (const place of ['/message', '/data/message', '/error/message']) {
    const message = nameOf(compilePointer(place)(value))
    if (message !== undefined) return message
  }
  return JSON.stringify(value)
}

function compileUsage(usage: UsageConfiguration): (value: unknown) => readonly [TokenKind, number][] {
  const match = compileMatch(usage.match)
  const pointers = tokenKinds.flatMap((kind): [TokenKind, Pointer][] =>
    [usage[kind] ?? []].flat().map((text) => [kind, compilePointer(text)]),
  )
  return (value) => {
    if (!match(value)) return []
    return pointers.flatMap(([kind, pointer]) =>
      pointer(value).flatMap((number): [TokenKind, number][] => (isCount(number) ? [[kind, number]] : [])),
    )
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Maximum length of a note, in characters, whatever a pointer finds. */
const maxNoteLength = 200

/** Compiles the rules of progress. Without rules, the lines that hold the reply are the progress. */
export function compileProgress(output: OutputConfiguration): (value: unknown) => Progress | undefined {
  if (output.progress === undefined) {
    const text = compileField(output.text)
    return (value) => asText(joinedText(text(value)))
  }
  const rules = output.progress.map(({ match, text, note }) => ({
    match: compileMatch(match),
    text: compileField(text),
    note: note === undefined ? undefined : compileNote(note),
  }))
  return (value) => {
    const rule = rules.find((each) => each.match(value))
    if (rule === undefined) return undefined
    return { ...asText(joinedText(rule.text(value))), ...(rule.note && { note: rule.note(value) }) }
  }
}

function asText(text: string | undefined): Progress | undefined {
  return text ? { text } : undefined
}

function compileNote(template: string): (value: unknown) => string {
  const pieces = template.split(/\{(\/[^}]*)\}/).map((piece, index) => {
    if (index % 2 === 0) return () => piece
    const pointer = compilePointer(piece)
    return (value: unknown) => joinedText(pointer(value)) ?? ''
  })
  return (value) =>
    pieces
      .map((piece) => piece(value))
      .join('')
      .slice(0, maxNoteLength)
}
