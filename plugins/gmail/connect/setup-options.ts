/** Reads the settings that setup shall reach, and completes them with the configuration and with the defaults. */

import { isDeepStrictEqual } from 'node:util'
import type { Facts } from '@reveille/kit'
import schema from '../config.schema.json' with { type: 'json' }
import type { BaseUrls, GmailConfiguration } from '../configuration.ts'

const { properties } = schema

/**
 * Options of setup, in the forms of `setup.json` and `config.schema.json`, which the host checks. All are optional. `topic` and
 * `subscription` are whole names, or only their last parts.
 */
export interface SetupOptions
  extends Partial<
    Pick<
      GmailConfiguration,
      | 'account'
      | 'label'
      | 'mode'
      | 'topic'
      | 'subscription'
      | 'includeBody'
      | 'maxBytes'
      | 'renewEveryMinutes'
    >
  > {
  /**
   * The project of Google Cloud that has the OAuth client, the topic and the subscription. Default: the client's own.
   */
  readonly project?: string
  /** The content of the OAuth client's JSON file. It is needed the first time. */
  readonly client?: unknown
  /** The public address of `/hooks/gmail/push`. */
  readonly pushEndpoint?: string
  /** The service account whose tokens Google sends with notifications. */
  readonly pushServiceAccount?: string
  /** Ask for another consent even if the stored one is good. */
  readonly again?: boolean
  readonly baseUrls?: Readonly<Record<string, string>>
}

/** The settings that a configuration may leave out. */
export type Settings = Pick<
  GmailConfiguration,
  'label' | 'mode' | 'includeBody' | 'maxBytes' | 'renewEveryMinutes'
>

const keys = ['label', 'mode', 'includeBody', 'maxBytes', 'renewEveryMinutes'] as const

export function settle(options: SetupOptions, config: SetupOptions): Settings {
  const values = keys.map((key) => [key, options[key] ?? config[key] ?? schema.properties[key].default])
  return Object.fromEntries(values) as Settings
}

export function settleBaseUrls(options: SetupOptions, config: SetupOptions): BaseUrls {
  const { accounts, oauth, gmail, pubsub } = properties.baseUrls.properties
  return {
    accounts: accounts.default,
    oauth: oauth.default,
    gmail: gmail.default,
    pubsub: pubsub.default,
    ...config.baseUrls,
    ...options.baseUrls,
  }
}

/** The whole names of the topic and the subscription. */
export type Names = Pick<GmailConfiguration, 'topic' | 'subscription'>

export interface Settled {
  readonly account: string
  readonly names: Names
  readonly settings: Settings
}

/** Returns the whole configuration of the mailbox. Defaults are not written, and keys that are already there stay. */
export function configurationOf(
  { account, names: { topic, subscription }, settings }: Settled,
  options: SetupOptions,
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
    ...(options.baseUrls && { baseUrls: { ...(config['baseUrls'] as object), ...options.baseUrls } }),
  }
}
