/** Finds mistakes in `catchUp`: whether its provider can be asked, about which webhook, and how far back. */

import { type KeyFault, noEffect } from '../diagnostic/key-fault.ts'
import { parseDuration } from '../duration.ts'
import type { CatchUpPolicy, VerifyPolicy } from '../schema/policy-schema.ts'

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
): Iterable<KeyFault> {
  const provider = verify?.provider
  const keys = ['catchUp']
  if (endpoint === 'wake' || endpoint === 'agent') {
    yield noEffect(keys, `no provider sends to \`${endpoint}\``)
    return
  }
  if (!isCatchUpProvider(provider)) {
    yield {
      keys,
      at: 'key',
      code: 'CATCH_UP_UNSUPPORTED',
      problem: 'asks the provider of `verify.provider`, which must be `github` or `stripe`',
      hint:
        provider === undefined
          ? 'Write `verify:` with the provider and its secret, or remove it.'
          : `Remove it: the API of ${provider} has no list of what was sent.`,
    }
    return
  }
  yield* checkPlace(provider, catchUp)
  yield* checkTimes(provider, catchUp)
}

function* checkPlace(provider: CatchUpProvider, { repo, org, hookId }: CatchUpPolicy): Iterable<KeyFault> {
  const keys = ['catchUp']
  if (provider === 'github') {
    if (repo !== undefined && org !== undefined)
      yield {
        keys: [...keys, 'org'],
        at: 'key',
        code: 'DUPLICATE_FIELD',
        problem: 'stands beside `repo`, and a webhook belongs to one of them',
        hint: 'Keep the one under whose settings GitHub lists the webhook.',
      }
    else if (repo === undefined && org === undefined)
      yield {
        keys,
        named: [...keys, 'repo'],
        at: 'key',
        code: 'MISSING_KEY',
        problem: 'is missing',
        hint: 'Write `repo: OWNER/NAME`, or `org: NAME` for the webhook of an organisation.',
      }
    if (!/^\d+$/.test(String(hookId)))
      yield {
        keys: [...keys, 'hookId'],
        code: 'INVALID_VALUE',
        problem: 'is not the id of a webhook of GitHub, which is a number',
        hint: 'It ends the address of the page of the webhook, under Settings > Webhooks.',
      }
    return
  }
  for (const key of ['repo', 'org'] as const)
    if ({ repo, org }[key] !== undefined) yield noEffect([...keys, key], 'it is not for Stripe')
  if (!/^we_\w+$/.test(String(hookId)))
    yield {
      keys: [...keys, 'hookId'],
      code: 'INVALID_VALUE',
      problem: 'is not the id of a webhook endpoint of Stripe, which begins with `we_`',
      hint: 'Stripe shows it in Workbench > Webhooks.',
    }
}

function* checkTimes(provider: CatchUpProvider, { every, lookBack }: CatchUpPolicy): Iterable<KeyFault> {
  const most = lookBackDays[provider]
  if (parseDuration(lookBack) > most * dayMs)
    yield {
      keys: ['catchUp', 'lookBack'],
      code: 'INVALID_VALUE',
      problem: `is longer than ${most}d, and the provider lists nothing older`,
      hint: `Write ${most}d, or less.`,
    }
  if (parseDuration(every) < 60_000)
    yield {
      keys: ['catchUp', 'every'],
      code: 'INVALID_VALUE',
      problem: 'is shorter than 1m',
      hint: 'The API allows a limited number of calls: write 1m, or more.',
    }
  if (parseDuration(every) >= parseDuration(lookBack))
    yield {
      keys: ['catchUp', 'lookBack'],
      code: 'INVALID_VALUE',
      problem: `is not longer than \`every\` (${every}), so that something could be missed between two times`,
      hint: 'Write a longer `lookBack`, or a shorter `every`.',
    }
}
