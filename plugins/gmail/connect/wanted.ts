/** Reads the settings that setup shall reach, and completes them with the configuration and with the defaults. */

import { isDeepStrictEqual } from 'node:util'
import { type Facts, permanentError, recordOf } from '@reveille/kit'
import schema from '../config.schema.json' with { type: 'json' }
import type { BaseUrls, GmailConfiguration } from '../configuration.ts'

const { properties } = schema

/**
 * What a person may ask setup for. All of it may be absent. `topic` and `subscription` are whole names, or only their last
 * parts.
 */
export interface Wanted
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

interface Form {
  readonly isGood: (value: unknown) => boolean
  readonly expected: string
}

const text: Form = { isGood: (value) => typeof value === 'string' && value.trim() !== '', expected: 'a text' }
const yesOrNo: Form = { isGood: (value) => typeof value === 'boolean', expected: 'true or false' }
const address: Form = {
  isGood: matches(new RegExp(properties.account.pattern)),
  expected: 'an address such as ada@example.com',
}

const isBaseUrl = matches(new RegExp(properties.baseUrls.properties.gmail.pattern))

/** These forms match `config.schema.json` for the keys that both have. */
const forms: Readonly<Record<Exclude<keyof Wanted, 'client'>, Form>> = {
  account: address,
  project: {
    isGood: matches(/^([a-z0-9.-]+:)?[a-z][a-z0-9-]*$/),
    expected: 'the id of a project, such as my-project-4711',
  },
  label: text,
  mode: { isGood: (value) => value === 'pull' || value === 'push', expected: 'pull or push' },
  topic: text,
  subscription: text,
  pushEndpoint: text,
  pushServiceAccount: {
    ...address,
    expected: 'the address of a service account, such as push@my-project.iam.gserviceaccount.com',
  },
  includeBody: yesOrNo,
  maxBytes: within(properties.maxBytes),
  renewEveryMinutes: within(properties.renewEveryMinutes),
  again: yesOrNo,
  baseUrls: {
    isGood: (value) => Object.values(recordOf(value) ?? { is: 'none' }).every(isBaseUrl),
    expected: 'addresses by name, without a slash at the end',
  },
}

/** Checks the values. `of` names the place of the values: `hooks.gmail`. @throws PluginError `bad-option` */
export function readWanted(facts: Facts, of?: string): Wanted {
  for (const [key, { isGood, expected }] of Object.entries(forms)) {
    const value = facts[key]
    if (value === undefined || isGood(value)) continue
    throw permanentError('bad-option', `\`${of === undefined ? key : `${of}.${key}`}\` must be ${expected}.`)
  }
  return facts as Wanted
}

/** Returns what is wrong with an answer, in a sentence. */
export function problemOf(key: string, answer: unknown): string | undefined {
  const form = (forms as Readonly<Record<string, Form>>)[key]
  return form === undefined || form.isGood(answer) ? undefined : `It must be ${form.expected}.`
}

function matches(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value)
}

function within({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }): Form {
  return {
    isGood: (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
    expected: `a whole number from ${minimum} to ${maximum}`,
  }
}

/** The settings that a configuration may leave out. */
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
  const { accounts, oauth, gmail, pubsub } = properties.baseUrls.properties
  return {
    accounts: accounts.default,
    oauth: oauth.default,
    gmail: gmail.default,
    pubsub: pubsub.default,
    ...config.baseUrls,
    ...wanted.baseUrls,
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
