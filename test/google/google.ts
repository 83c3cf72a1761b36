/** Declares what a test can do with the fake Google: to a mailbox, a project and the people behind them. */

export interface FakeGoogle {
  /** The value of `hooks.gmail.baseUrls`. All addresses lead to one server on loopback. */
  readonly baseUrls: {
    readonly accounts: string
    readonly oauth: string
    readonly gmail: string
    readonly pubsub: string
  }
  /** Google's keys for push tokens, as `https://www.googleapis.com/oauth2/v3/certs` answers them. */
  readonly certsUrl: string
  /** The JSON that the Cloud console gives to download for an OAuth client of the type Desktop. */
  readonly clientFile: object
  readonly project: string
  readonly account: string
  /** Makes a consent without asking a person, and returns its credentials as they are stored under `credentials`. */
  credentials(): object
  /** Makes topic, subscription and role as setup would, and returns their names. */
  prepare(options?: { push?: { endpoint: string; serviceAccount: string; audience?: string } }): {
    topic: string
    subscription: string
  }

  /** Follows the page as the person's browser would, through to the redirect. */
  consent(
    url: string,
    answer?: 'allow' | 'deny' | { only: readonly string[] } | { as: string },
  ): Promise<Response>
  /** Does the same, but stops before the redirect, whose address a person would paste. */
  consentByHand(url: string): Promise<string>
  /** Withdraws the consent, as in the settings of the Google account: every token is void. */
  revoke(): void
  /** Makes the current access tokens void. Refresh tokens stay good. */
  expireAccessTokens(): void

  /** Delivers a new mail and returns its id. Gmail notifies the topic of a watch that covers one of its labels. */
  deliver(mail?: NewMail): string
  deliverMany(count: number, mail?: (index: number) => NewMail): readonly string[]
  remove(id: string): void
  relabel(id: string, change: { add?: readonly string[]; remove?: readonly string[] }): void
  /** Forgets the history up to now: it gets 404. */
  expireHistory(): void
  /** Notifies again, as Pub/Sub may. */
  notifyAgain(): void
  /** Never publishes the next notifications, this many, as Gmail says may happen. */
  loseNotifications(count: number): void
  /** Makes a label of the person's own, and returns its id. */
  addLabel(name: string): string
  /** The current watch, if there is one. */
  readonly watch:
    | { readonly topic: string; readonly labelIds: readonly string[]; readonly endsAt: number }
    | undefined
  /** The number of notifications that were not acknowledged. */
  readonly unacknowledged: number
  /** The roles of the topic: `roles/pubsub.publisher` -> members. */
  readonly roles: Readonly<Record<string, readonly string[]>>
  /** The existing topics and subscriptions. */
  readonly resources: readonly string[]
  /**
   * Changes the members of a role on the topics, as another administrator would. Default: Gmail's push account as
   * publisher.
   */
  setRole(change: { role?: string; member?: string; isGranted: boolean }): void
  /** The pushes of Pub/Sub. `status` is 0 if there was no answer. */
  readonly pushes: readonly {
    readonly endpoint: string
    readonly messageId: string
    readonly status: number
    readonly at: number
  }[]
  /** Sends pushes for the origin `from` (`https://hooks.example.com`) to `to`, on loopback. */
  tunnel(from: string, to: string): void

  /**
   * Adds faults, one for each of the next calls of an operation, in order: `gmail.users.messages.get`. `*` is every
   * operation.
   */
  fail(operation: string, ...faults: readonly Fault[]): void
  /** All calls, in order. */
  readonly calls: readonly Call[]
  callsOf(operation: string): readonly Call[]
  /** Calls that Google would have refused. A test asserts that the list is empty at its end. */
  readonly mistakes: readonly string[]
  /**
   * Resolves when the condition holds. It is checked when a call comes or ends, after each push and each move of the
   * clock. @throws Error after 20 s
   */
  until(isSo: () => boolean): Promise<void>
  /** Returns the time of Google's clock. */
  now(): number
  /** Moves Google's clock, so that watches and ack deadlines end. */
  advance(ms: number): void
  close(): Promise<void>
}

export interface NewMail {
  readonly from?: string
  readonly to?: string
  readonly subject?: string
  readonly text?: string
  readonly html?: string
  /** Default: INBOX and UNREAD. */
  readonly labels?: readonly string[]
  /** The whole payload, in place of one made of the fields above. */
  readonly payload?: object
}

/**
 * Answers `status` with Google's own body. `reason` is one of Google's: `rateLimitExceeded`, `accessNotConfigured`.
 */
export type Fault =
  | { readonly status: number; readonly reason?: string; readonly retryAfter?: number }
  /** Ends the connection before the answer, before or after the call took effect. */
  | { readonly cut: 'before' | 'after' }
  /** Gives no answer until the caller aborts. */
  | { readonly hang: true }
  /** Answers 200 with this text. */
  | { readonly garbage: string }
  /** Holds the call until the promise settles, and then answers as usual. */
  | { readonly until: Promise<unknown> }

export interface Call {
  /** `gmail.users.history.list`, `pubsub.projects.subscriptions.pull`, `oauth.token`, `oauth.auth`. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly body: unknown
  /** The status of the answer, or 0 if the call was cut. */
  readonly status: number
  /** The time by the fake's clock. */
  readonly at: number
}
