/** Owns taking the fields of a turn's answer out of JSON values, one value or many. */

import type { OutputConfiguration, UsageConfiguration } from '../configuration.ts'
import { compileField, compileMatch, compilePointer, type Pointer } from './pointer.ts'
import { type Reading, type Tokens, tokenKinds } from './reading.ts'

/** Collects over the values of one output. */
export interface Collector {
  add(value: unknown): void
  end(): Omit<Reading, 'unreadable'>
}

export function compileFields(output: OutputConfiguration): () => Collector {
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
    const tokens: Partial<Record<keyof Tokens, number>> = {}
    return {
      add(value) {
        reply = textOf(text(value)) ?? reply
        named = nameOf(session(value)) ?? named
        failure = complaintOf(error(value)) ?? failure
        answeredBy = nameOf(model(value)) ?? answeredBy
        for (const [kind, number] of count(value)) tokens[kind] = (tokens[kind] ?? 0) + number
      },
      end() {
        // A program that only says that it failed says why where its reply would be.
        const error = failure === '' ? (reply?.trim() ?? '') || 'it gave no reason' : failure
        return { reply, session: named, error, model: answeredBy, tokens }
      },
    }
  }
}

/** Texts of several places belong together; null is a reply without words. */
export function textOf(values: readonly unknown[]): string | undefined {
  if (values.length === 0) return undefined
  return values
    .map((value) => (typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)))
    .join('')
}

function nameOf(values: readonly unknown[]): string | undefined {
  return values.findLast((value) => typeof value === 'string' && value !== '') as string | undefined
}

/** An empty sentence when the program says that it failed but not here why. */
function complaintOf(values: readonly unknown[]): string | undefined {
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

function compileUsage(usage: UsageConfiguration): (value: unknown) => readonly [keyof Tokens, number][] {
  const match = compileMatch(usage.match)
  const pointers = tokenKinds.flatMap((kind): [keyof Tokens, Pointer][] =>
    [usage[kind] ?? []].flat().map((text) => [kind, compilePointer(text)]),
  )
  return (value) => {
    if (!match(value)) return []
    return pointers.flatMap(([kind, pointer]) =>
      pointer(value).flatMap((number): [keyof Tokens, number][] => (isCount(number) ? [[kind, number]] : [])),
    )
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
