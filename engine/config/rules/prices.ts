/**
 * Lists what models cost, and computes what a turn costs. Prices are those of the vendors' own APIs at their standard tier, in USD
 * for a million tokens, for prompts of ordinary length: the higher price of very long prompts, that of writing to a cache, and
 * discounts of batches are left out. An operator's `agents.prices` come first.
 */

import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { own } from '../values/is-record.ts'

/** USD for a million tokens. */
export interface Price {
  readonly input: number
  /** Input that came from the vendor's cache. */
  readonly cachedInput: number
  readonly output: number
}

/** The day on which this list was made. `reveille spend` names it, because prices change. */
export const pricesOf = '2026-11-23'

/**
 * Input, cached input and output, by the vendor and its name of the model. The pages of the vendors:
 * https://platform.claude.com/docs/en/about-claude/pricing https://ai.google.dev/gemini-api/docs/pricing
 * https://developers.openai.com/api/docs/pricing
 *
 * No page could be read on the day itself: the prices are those of copies of 2026-05 to 2026-10. Offers for a time are listed as they
 * were: `gemini-3.6-flash` to `gemini-3.8-flash` double on 2027-01-01, and `gpt-5.6-sol` was announced until at least 2026-11-21; before, it
 * was 5, 0.5 and 30.
 *
 * Not confirmed: Google's price of cached input is taken as a tenth of the input's, as reports of its page say of the family; so is that of
 * `gpt-5-nano` and `gpt-5-mini`. The prices of `gpt-5.1`, `gpt-5`, `gpt-5-mini` and of `gpt-4o` come from price tables of other programs of
 * spring 2026. For `gpt-5.5-pro` no price of cached input is known, so it counts as other input.
 */
const listed: Readonly<Record<string, Readonly<Record<string, readonly [number, number, number]>>>> = {
  anthropic: {
    'claude-fable-5-1': [10, 0.25, 50],
    'claude-fable-5': [10, 1, 50],
    'claude-opus-5-5': [4, 0.2, 20],
    'claude-opus-5': [5, 0.5, 25],
    'claude-opus-4-8': [5, 0.5, 25],
    'claude-opus-4-7': [5, 0.5, 25],
    'claude-opus-4-6': [5, 0.5, 25],
    'claude-opus-4-5': [5, 0.5, 25],
    'claude-opus-4-1': [15, 1.5, 75],
    'claude-sonnet-5-5': [2, 0.1, 10],
    'claude-sonnet-5': [2, 0.2, 10],
    'claude-sonnet-4-6': [3, 0.3, 15],
    'claude-sonnet-4-5': [3, 0.3, 15],
    'claude-sonnet-4': [3, 0.3, 15],
    'claude-haiku-5-5': [0.1, 0.01, 0.5],
    'claude-haiku-4-5': [1, 0.1, 5],
  },
  google: {
    'gemini-3.8-flash': [0.75, 0.075, 3.75],
    'gemini-3.7-flash': [0.75, 0.075, 3.75],
    'gemini-3.6-flash': [0.75, 0.075, 3.75],
    'gemini-3.5-flash': [1.5, 0.15, 9],
    'gemini-3.5-flash-lite': [0.3, 0.03, 2.5],
    'gemini-3.1-pro-preview': [2, 0.2, 12],
    'gemini-3.1-flash-lite': [0.25, 0.025, 1.5],
    'gemini-2.5-pro': [1.25, 0.125, 10],
    'gemini-2.5-flash': [0.3, 0.03, 2.5],
    'gemini-2.5-flash-lite': [0.1, 0.01, 0.4],
  },
  openai: {
    'gpt-6.1-sol': [2, 0.1, 10],
    'gpt-6.1-terra': [1, 0.05, 5],
    'gpt-6-astra': [10, 1, 50],
    'gpt-6-sol': [2, 0.2, 10],
    'gpt-6-luna': [0.1, 0.01, 0.5],
    'gpt-5.6-sol': [4, 0.4, 20],
    'gpt-5.6-terra': [2, 0.2, 12],
    'gpt-5.6-luna': [0.2, 0.02, 1.2],
    'gpt-5.5': [5, 0.5, 30],
    'gpt-5.5-pro': [30, 30, 180],
    'gpt-5.4': [2.5, 0.25, 15],
    'gpt-5.4-mini': [0.75, 0.075, 4.5],
    'gpt-5.4-nano': [0.2, 0.02, 1.25],
    'gpt-5.2': [1.75, 0.175, 14],
    'gpt-5.1': [1.25, 0.125, 10],
    'gpt-5': [1.25, 0.125, 10],
    'gpt-5-mini': [0.25, 0.025, 2],
    'gpt-5-nano': [0.05, 0.005, 0.4],
    'gpt-4o': [2.5, 1.25, 10],
    'gpt-4o-mini': [0.15, 0.075, 0.6],
  },
}

interface ListedPrice extends Price {
  readonly vendor: string
}

/** The same by the name of the model. */
export const listedPrices: Readonly<Record<string, ListedPrice>> = Object.fromEntries(
  Object.entries(listed).flatMap(([vendor, models]) =>
    Object.entries(models).map(([name, [input, cachedInput, output]]) => [
      name,
      { vendor, input, cachedInput, output },
    ]),
  ),
)

/** The part of `agents` that decides what a model costs. */
export type PriceSettings = Pick<ConfigurationValue['agents'], 'prices' | 'providers'>

/**
 * Returns the price of the first of these models that has one: what the operator wrote, else the listed price. A model is named
 * `<provider>/<model>`, or as its vendor names it.
 */
export function priceOf(
  settings: PriceSettings,
  ...models: readonly (string | undefined)[]
): Price | undefined {
  const [price] = models.flatMap((model) =>
    model === undefined ? [] : (writtenPrice(settings, model) ?? listedPrice(settings, model) ?? []),
  )
  return price
}

function writtenPrice({ prices }: PriceSettings, model: string): Price | undefined {
  const written = own(prices, model)
  return written && { cachedInput: written.input, ...written }
}

/** A provider of another kind than its vendor's, such as a router or a server of one's own, has prices of its own. */
function listedPrice({ providers }: PriceSettings, model: string): ListedPrice | undefined {
  const slash = model.indexOf('/')
  const name = model.slice(slash + 1)
  const found = own(listedPrices, name) ?? own(listedPrices, undated(name))
  if (found === undefined || slash < 0) return found
  const provider = model.slice(0, slash)
  const kind = (own(providers, provider) as { readonly kind?: unknown } | undefined)?.kind ?? provider
  return kind === found.vendor ? found : undefined
}

/** The name without the date of a version: `claude-haiku-4-5-20251001`, `gpt-5-2025-08-07`. */
function undated(name: string): string {
  return name.replace(/-(\d{8}|\d{4}-\d\d-\d\d)$/, '')
}

/** The tokens of a turn. Cached tokens are part of the input. */
export interface PricedTokens {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
}

/** Returns what these tokens cost in USD, to a millionth. */
export function costOf(
  { input, cachedInput, output }: Price,
  { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: PricedTokens,
): number {
  const cached = Math.min(cachedInputTokens, inputTokens)
  const micros = (inputTokens - cached) * input + cached * cachedInput + outputTokens * output
  return Math.round(micros) / 1_000_000
}
