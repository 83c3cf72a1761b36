/** Finds mistakes in `catchUp`: whether its provider can be asked, about which webhook, and how far back. */

import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { CatchUpPolicy, VerifyPolicy } from '../schema/policy-schema.ts'
import { parseDuration } from '../values/duration.ts'

const dayMs = 86_400_000

/**
 * How far back each provider can be asked, in days.
 * https://docs.github.com/en/rest/repos/webhooks#list-deliveries-for-a-repository-webhook
 * https://docs.stripe.com/api/events/list
 */
export const lookBackDays = { github: 3, stripe: 30 } as const

/** A provider whose API can be asked for what it sent. */
export type CatchUpProvider = keyof typeof lookBackDays

export function isCatchUpProvider(provider: string | undefined): provider is CatchUpProvider {
  return provider !== undefined && Object.hasOwn(lookBackDays, provider)
}

export function* catchUpRules(
  endpoint: string,
  catchUp: CatchUpPolicy,
  verify: VerifyPolicy | undefined,
): Iterable<Finding> {
  const provider = verify?.provider
  const path = ['catchUp']
  if (endpoint === 'wake' || endpoint === 'agent') {
    yield noEffect(path, `no provider sends to \`${endpoint}\``)
    return
  }
  if (!isCatchUpProvider(provider)) {
    const problem = 'asks the provider of `verify.provider`, which must be `github` or `stripe`'
    const hint =
      provider === undefined
        ? 'Write `verify:` with the provider and its secret, or remove it.'
        : `Remove it: the API of ${provider} has no list of what was sent.`
    yield { path, at: 'key', code: 'CATCH_UP_UNSUPPORTED', problem, hint }
    return
  }
  yield* checkPlace(provider, catchUp)
  yield* checkTimes(provider, catchUp)
}

function* checkPlace(provider: CatchUpProvider, { repo, org, hookId }: CatchUpPolicy): Iterable<Finding> {
  const path = ['catchUp']
  const [form, problem, hint] = hookIds[provider]
  if (!form.test(String(hookId))) yield { path: [...path, 'hookId'], code: 'INVALID_VALUE', problem, hint }
  if (provider === 'stripe') {
    if (repo !== undefined) yield noEffect([...path, 'repo'], 'it is not for Stripe')
    if (org !== undefined) yield noEffect([...path, 'org'], 'it is not for Stripe')
  } else if (repo !== undefined && org !== undefined) {
    const problem = 'stands beside `repo`, and a webhook belongs to one of them'
    const hint = 'Keep the one under whose settings GitHub lists the webhook.'
    yield { path: [...path, 'org'], at: 'key', code: 'DUPLICATE_FIELD', problem, hint }
  } else if (repo === undefined && org === undefined) {
    const hint = 'Write `repo: OWNER/NAME`, or `org: NAME` for the webhook of an organisation.'
    yield { path, named: [...path, 'repo'], at: 'key', code: 'MISSING_KEY', problem: 'is missing', hint }
  }
}

const hookIds = {
  github: [
    /^\d+$/,
    'is not the id of a webhook of GitHub, which is a number',
    'It ends the address of the page of the webhook, under Settings > Webhooks.',
  ],
  stripe: [
    /^we_\w+$/,
    'is not the id of a webhook endpoint of Stripe, which begins with `we_`',
    'Stripe shows it in Workbench > Webhooks.',
  ],
} as const

function* checkTimes(provider: CatchUpProvider, { every, lookBack }: CatchUpPolicy): Iterable<Finding> {
  const invalid = (key: string, problem: string, hint: string): Finding => {
    return { path: ['catchUp', key], code: 'INVALID_VALUE', problem, hint }
  }
  const max = lookBackDays[provider]
  const [everyMs, lookBackMs] = [parseDuration(every), parseDuration(lookBack)]
  if (lookBackMs > max * dayMs)
    yield invalid(
      'lookBack',
      `is longer than ${max}d, and the provider lists nothing older`,
      `Write ${max}d, or less.`,
    )
  if (everyMs < 60_000)
    yield invalid(
      'every',
      'is shorter than 1m',
      'The API allows a limited number of calls: write 1m, or more.',
    )
  if (everyMs >= lookBackMs) {
    const problem = `is not longer than \`every\` (${every}), so that something could be missed between two times`
    yield invalid('lookBack', problem, 'Write a longer `lookBack`, or a shorter `every`.')
  }
}
