/** Completes the options of setup with the configuration and its defaults. */

import type { Facts } from '@reveille/kit'
import schema from '../config.schema.json' with { type: 'json' }
import type { BaseUrls, GmailConfiguration } from '../configuration.ts'

const { properties } = schema

/** Settings that a configuration may leave out. */
type Settings = Pick<GmailConfiguration, 'label' | 'includeBody' | 'maxBytes'>

/** Options of setup, in the forms of `setup.json` and `config.schema.json`, which the host checks. All are optional. */
export interface SetupOptions extends Partial<Settings> {
  readonly account?: string
  /** The content of the OAuth client's JSON file. It is needed the first time. */
  readonly client?: unknown
  /** Ask for another consent even if the stored one is good. */
  readonly again?: boolean
}

const keys = ['label', 'includeBody', 'maxBytes'] as const

export function settleBaseUrls(config: Facts): BaseUrls {
  const { accounts, oauth, gmail } = properties.baseUrls.properties
  const defaults = { accounts: accounts.default, oauth: oauth.default, gmail: gmail.default }
  return { ...defaults, ...(config['baseUrls'] as Partial<BaseUrls> | undefined) }
}

/** Returns the whole configuration of the mailbox. Defaults are not written, and keys that are already there stay. */
export function configurationOf(account: string, options: SetupOptions, config: Facts): Facts {
  const chosen = keys.filter(
    (key) => options[key] !== undefined && (key in config || options[key] !== properties[key].default),
  )
  return { ...config, account, ...Object.fromEntries(chosen.map((key) => [key, options[key]])) }
}
