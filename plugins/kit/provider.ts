/**
 * Defines the contract of providers: services that send webhooks, whose API is asked for what it could not deliver
 * (`catchUp`), and registers webhooks (`connect`). A provider has the name that `verify.provider` gives it.
 */

import type { Facts } from './record.ts'
import type { SourceClock } from './source.ts'

/** A provider configured as `catchUp` of one endpoint. The gateway calls it at the start and every `every`. */
export interface Provider {
  /** The name of the provider in its manifest, such as `github`. */
  readonly id: string
  /** The name in sentences: `GitHub`. */
  readonly title: string
  /** The arguments of `reveille connect` that register this webhook again, such as `octo-org/harbour`. */
  readonly connectArguments?: readonly string[]
  /** Lists what was not delivered from this time on, in milliseconds since the Unix epoch. @throws PluginError */
  missedSince(from: number, call: MissedCall): Promise<MissedList>
}

export interface MissedCall extends ApiPace {
  readonly clock: SourceClock
  readonly signal: AbortSignal
  /** The configuration key of the token, for messages. */
  readonly tokenFrom: string
}

/** Reports how many calls an API allows. */
export interface ApiPace {
  /** Called when the provider allows no further call until a time, in milliseconds since the Unix epoch. */
  readonly onLimited?: (until: number) => void
  /** Called after each answer that gives the number of calls left until the limit is renewed. */
  readonly onCallsLeft?: (calls: number) => void
}

export interface MissedList {
  readonly count: number
  /** Reason why the provider sends nothing, as a sentence for the operator. */
  readonly problem?: string
  /** The oldest first. */
  readonly items: AsyncIterable<Missed> | Iterable<Missed>
}

/** An event that the provider sent, or meant to send, and that was not accepted. */
export interface Missed {
  /** The id by which the same event is recognised in every list. */
  readonly id: string
  /** When it was sent, in milliseconds since the Unix epoch. */
  readonly at: number
  /** Returns undefined if the provider no longer has its content. @throws PluginError */
  read(): Promise<MissedRequest | undefined>
}

/** The request that the provider would have sent. */
export interface MissedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Registers webhooks for `reveille connect`, which asks for address, token and events, and writes the configuration. */
export interface Registration {
  /**
   * Returns whose webhook it is, from the options of the command, else from `catchUp` as it is written. Pure.
   * @throws PluginError that says which option is wrong or missing
   */
  ownerOf(options: Facts, configured: Facts): WebhookOwner
  /** Returns the events that a mapping asks for by its `match`, or undefined if it may want any. Pure. */
  eventsOf(match: { readonly headers?: Facts; readonly body?: unknown }): readonly string[] | undefined
  open(owner: WebhookOwner, call: RegistrationCall): Registrar
}

export interface WebhookOwner {
  /** The keys of `catchUp` that name it: `{ repo: 'octo-org/harbour' }`. */
  readonly keys: Readonly<Record<string, string>>
  /** The name in sentences: `octo-org/harbour`, or `the account`. */
  readonly name: string
}

export interface RegistrationCall {
  readonly fetch: typeof fetch
  readonly token: string
  /** Where the token comes from, for messages. */
  readonly tokenFrom: string
  /** The address of the API. Default: that of the provider. */
  readonly api: string | undefined
  readonly clock: SourceClock
  readonly signal: AbortSignal
}

export interface WantedWebhook {
  readonly url: string
  readonly events: readonly string[]
}

/** A webhook as the provider has it. */
export interface RegisteredWebhook {
  readonly id: string
  readonly url: string
}

/** Each method throws a PluginError that names the missing permission. */
export interface Registrar {
  /** True if the provider signs with a secret that it is given. Otherwise it makes one, and shows it once. */
  readonly choosesSecret: boolean
  /** Lists all webhooks of the owner, which fails if the token may not administer them. */
  list(): Promise<readonly RegisteredWebhook[]>
  /** Creates a webhook, and returns its id and the secret that it signs with. */
  create(wanted: WantedWebhook, secret: string): Promise<{ readonly id: string; readonly secret: string }>
  update(id: string, wanted: WantedWebhook, secret: string): Promise<void>
  /** Removes a webhook. One that is gone already is no error. */
  remove(id: string): Promise<void>
  /**
   * Has the provider send a test event, and resolves with the status that it was answered; undefined if `isTimeLeft`, which
   * waits a moment, resolves with false before that is known. Absent: the provider has no test.
   */
  readonly ping?: (id: string, isTimeLeft: () => Promise<boolean>) => Promise<PingResult | undefined>
}

export interface PingResult {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number
  /** The provider's words, such as `failed to connect to host`. */
  readonly statusText: string
}
