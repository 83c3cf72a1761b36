/** Checks the rules of `agents:` that go beyond the shape of single keys. */

import { type Finding, longerThan } from '../file/diagnostic.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { own } from '../values/is-record.ts'
import { didYouMean } from '../values/nearest.ts'
import { namedModel } from './models.ts'
import { priceOf } from './prices.ts'

type Agents = ConfigurationValue['agents']
type Defaults = Agents['defaults']

const inDefaults = ['agents', 'defaults'] as const

export function checkRetry({ retry: { backoff, maxBackoff } }: Defaults): Finding[] {
  return longerThan([...inDefaults, 'retry'], { backoff }, { maxBackoff })
}

export function* checkQuietHours({ heartbeat: { quietHours } }: Defaults): Iterable<Finding> {
  if (quietHours === undefined) return
  const path = [...inDefaults, 'heartbeat', 'quietHours']
  if (quietHours.from === quietHours.to) {
    const problem = 'begins and ends at the same time'
    const hint = 'For no regular heartbeats at all, let `every` be long.'
    yield { path, place: [...path, 'to'], code: 'INVALID_VALUE', problem, hint }
  }
  if (isTimeZoneName(quietHours.timezone)) return
  const zones = Intl.supportedValuesOf('timeZone')
  const hint = didYouMean(quietHours.timezone, zones, 'Write an IANA name such as Europe/Berlin.')
  const problem = 'is not the name of a time zone'
  yield { path: [...path, 'timezone'], code: 'UNKNOWN_TIMEZONE', problem, hint }
}

/** `Intl` also accepts an offset such as `+01:00`, but that has no daylight saving time and is not a name. */
function isTimeZoneName(text: string): boolean {
  if (/^[+-]/.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined
  } catch {
    return false
  }
}

/** A budget in US dollars counts what turns cost, and every heartbeat asks the default model. */
export function* checkPrices({ budget, ...agents }: Agents): Iterable<Finding> {
  const fault = budget?.usd === undefined ? undefined : unpricedDefault(agents)
  if (fault) yield { path: ['agents', 'budget', 'usd'], code: 'MODEL_WITHOUT_PRICE', ...fault }
}

/** Reason why a budget in US dollars cannot count the turns of the default model; undefined if it can. */
export function unpricedDefault({
  defaults: { model, models },
  prices,
  providers,
}: Pick<Agents, 'defaults' | 'prices' | 'providers'>): { problem: string; hint: string } | undefined {
  if (model === undefined) {
    const problem = 'counts what models cost, and `agents.defaults.model` names none'
    return { problem, hint: 'Write the model that runs are asked of.' }
  }
  const name = namedModel(model, models)
  if (priceOf({ prices, providers }, name) !== undefined) return undefined
  return {
    problem: 'counts what models cost, and `agents.defaults.model` has no known price',
    hint: priceHint(name),
  }
}

/** `model` is a name that the operator wrote. */
export function priceHint(model: string): string {
  return `Write its price in US dollars for a million tokens: \`agents.prices: { "${model}": { input: 1, output: 5 } }\`.`
}

/** The runner `ai` reaches a model only through the provider that its name begins with. */
export function* checkProvider({ defaults, providers, runners }: Agents): Iterable<Finding> {
  const { runner, model, models } = defaults
  const names = Object.keys(providers)
  const named = own(runners, runner)
  const isServed = (named?.kind ?? runner) !== 'ai' || named?.['providers'] !== undefined
  if (isServed || model === undefined || names.length === 0) return
  const [provider = ''] = namedModel(model, models).split('/')
  if (names.includes(provider)) return
  const problem = 'begins with a provider that `agents.providers` does not have'
  const hint = didYouMean(provider, names, `There are ${names.join(', ')}.`)
  yield { path: [...inDefaults, 'model'], code: 'UNKNOWN_PROVIDER', problem, hint }
}
