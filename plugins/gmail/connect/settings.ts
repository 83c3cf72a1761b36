/** Owns what is to be configured: what is asked for, what was configured, and what holds where nobody says. */

import { isDeepStrictEqual } from 'node:util'
import type { Facts } from '@reveille/kit'
import schema from '../config.schema.json' with { type: 'json' }
import type { BaseUrls, GmailConfiguration } from '../configuration.ts'
import type { Names } from './names.ts'
import type { Wanted } from './wanted.ts'

/** What a configuration may leave out. */
export type Settings = Pick<
  GmailConfiguration,
  'label' | 'mode' | 'includeBody' | 'maxBytes' | 'renewEveryMinutes'
>

const keys = ['label', 'mode', 'includeBody', 'maxBytes', 'renewEveryMinutes'] as const

export function settle(wanted: Wanted, config: Wanted): Settings {
  const values = keys.map((key) => [key, wanted[key] ?? config[key] ?? schema.properties[key].default])
  return Object.fromEntries(values) as Settings
}

export function settleBaseUrls(wanted: Wanted, config: Wanted): BaseUrls {
  const { accounts, oauth, gmail, pubsub } = schema.properties.baseUrls.properties
  return {
    accounts: accounts.default,
    oauth: oauth.default,
    gmail: gmail.default,
    pubsub: pubsub.default,
    ...config.baseUrls,
    ...wanted.baseUrls,
  }
}

export interface Settled {
  readonly account: string
  readonly names: Names
  readonly settings: Settings
}

/** What goes without saying is not written; what is there already stays where it is, whoever it is for. */
export function configurationOf(
  { account, names: { topic, subscription }, settings }: Settled,
  wanted: Wanted,
  config: Facts,
): Facts {
  const said = keys.filter(
    (key) => key in config || !isDeepStrictEqual(settings[key], schema.properties[key].default),
  )
  return {
    ...config,
    account,
    topic,
    subscription,
    ...Object.fromEntries(said.map((key) => [key, settings[key]])),
    ...(wanted.baseUrls && { baseUrls: { ...(config['baseUrls'] as object), ...wanted.baseUrls } }),
  }
}
