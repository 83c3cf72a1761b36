/** Owns what a vendor's rules say that no schema can: which answers there are, and what each is to be taken for. */

import type { FakeServerAnswer } from '../../plugins/kit/fake-server/index.ts'
import { specification } from '../sample-data.ts'
import type { Body, Vendor, Word } from './vendors.ts'

export interface Rules {
  readonly to: readonly { readonly pattern: string; readonly examples?: readonly string[] }[]
  readonly text: { readonly max: number | null; readonly empty?: Rule; readonly tooLong?: Rule }
  /** By the way in which the channel writes, where there are several. */
  readonly rate: { readonly shape?: Rule | { readonly 'json-rpc': Rule } }
  readonly errors: readonly Rule[]
}

/** An answer. Where no body is written out, each of the words stands for one. */
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
  /** In Telegram's words, which are the whole of an error there. */
  readonly description?: Word
  /** What to do about it, where a channel can. */
  readonly recover?: string
}

/** Undefined where the rules are not at hand. A limit is among the errors. */
export function rulesOf({ name }: Vendor): Rules | undefined {
  const all = specification('vendor-rules') as { channels: Record<string, Rules> } | undefined
  const rules = all?.channels[name]
  const { shape } = rules?.rate ?? {}
  if (rules === undefined || shape === undefined) return rules
  const limit = 'json-rpc' in shape ? shape['json-rpc'] : shape
  return { ...rules, errors: [...rules.errors, { ...limit, class: 'rate-limit' }] }
}

/** Every answer that the rule stands for, as the vendor would write it. */
export function answersOf(rule: Rule, vendor: Vendor): FakeServerAnswer[] {
  const { http: status = 200, headers = {}, body, text } = rule
  if (body !== undefined) return [{ status, headers, body }]
  if (text !== undefined)
    return [{ status, headers: { 'content-type': 'text/html', ...headers }, body: text }]
  const words = wordsOf(rule)
  return (words.length > 0 ? words : ['']).map((word) => ({ status, headers, body: vendor.error(word) }))
}

/** Whether the answer is one that the rule stands for. */
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
