/** Reads a vendor's rules that no schema can express: which answers there are, and what each one means. */

import type { FakeServerAnswer } from '../../plugins/kit/fake-server/index.ts'
import { specification } from '../sample-data.ts'
import type { Body, Vendor, Word } from './vendors.ts'

export interface Rules {
  readonly to: readonly { readonly pattern: string; readonly examples?: readonly string[] }[]
  readonly text: { readonly max: number | null; readonly empty?: Rule; readonly tooLong?: Rule }
  /** The way of the channel that the rule applies to, if it has several. */
  readonly rate: { readonly shape?: Rule | { readonly 'json-rpc': Rule } }
  readonly errors: readonly Rule[]
}

/** An answer. If it has no body, each of the words makes one. */
export interface Rule {
  readonly class?: 'rate-limit' | 'auth' | 'permanent' | 'transient' | 'ambiguous'
  readonly http?: number
  readonly body?: object
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly errors?: readonly Word[]
  readonly codes?: readonly Word[]
  readonly error?: Word
  readonly code?: Word
  readonly id?: Word
  readonly type?: Word
  readonly rpc?: Word
  /** Telegram's words, which are its whole error. */
  readonly description?: Word
  /** Advice on the error, if a channel can do something. */
  readonly recover?: string
}

/** Reads the rules of a vendor that has some. Rate limits are among the errors. */
export function rulesOf({ name }: Vendor): Rules {
  const all = specification('vendor-rules') as { channels: Record<string, Rules> } | undefined
  const rules = all?.channels[name]
  if (rules === undefined) throw new Error(`there are no rules of ${name}`)
  const { shape } = rules.rate
  if (shape === undefined) return rules
  const limit = 'json-rpc' in shape ? shape['json-rpc'] : shape
  return { ...rules, errors: [...rules.errors, { ...limit, class: 'rate-limit' }] }
}

/** Returns every answer of a rule, as the vendor would write it. */
export function answersOf(rule: Rule, vendor: Vendor): FakeServerAnswer[] {
  const { http: status = 200, headers = {}, body, text } = rule
  if (body !== undefined) return [{ status, headers, body }]
  if (text !== undefined)
    return [{ status, headers: { 'content-type': 'text/html', ...headers }, body: text }]
  const words = wordsOf(rule)
  return (words.length > 0 ? words : ['']).map((word) => ({ status, headers, body: vendor.error(word) }))
}

/** True if an answer matches the rule. */
export function isAnswerOf(rule: Rule, answer: { status: number; body: Body }, vendor: Vendor): boolean {
  if (answer.status !== (rule.http ?? 200)) return false
  const word = vendor.word(answer.body ?? {})
  if (rule.body !== undefined) return word === vendor.word(rule.body)
  const words = wordsOf(rule)
  return words.length === 0 || words.includes(word as Word)
}

function wordsOf({ errors = [], codes = [], error, code, id, type, rpc, description }: Rule): Word[] {
  const single = [error, code, id, type, rpc, description].filter((word) => word !== undefined)
  return [...errors, ...codes, ...single]
}
