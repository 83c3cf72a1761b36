/** Owns the face of the stand-in for Google: what a test can do to a mailbox, a project and the people behind them. */

export interface StandInGoogle {
  /** For `hooks.gmail.baseUrls`. All of them lead to one server on loopback. */
  readonly baseUrls: {
    readonly accounts: string
    readonly oauth: string
    readonly gmail: string
    readonly pubsub: string
  }
  /** Google's keys for the tokens of push, as `https://www.googleapis.com/oauth2/v3/certs` answers them. */
  readonly certsUrl: string
  /** What the Cloud console gives to download for an OAuth client of the kind desktop. */
  readonly clientFile: object
  readonly project: string
  readonly account: string
  /** By credentials that no person had to be asked for: as kept under `credentials`. Makes a consent. */
  credentials(): object
  /** Makes topic, subscription and role, as setup would; answers their names. */
  prepare(options?: { push?: { endpoint: string; serviceAccount: string; audience?: string } }): {
    topic: string
    subscription: string
  }

  /** What the person does with a page that is shown: follows it as a browser would, through to the redirect. */
  consent(
    url: string,
    answer?: 'allow' | 'deny' | { only: readonly string[] } | { as: string },
  ): Promise<Response>
  /** The same, but stops before the redirect, whose address a person would paste. */
  consentByHand(url: string): Promise<string>
  /** As in the settings of the Google account: every token is void. */
  revoke(): void
  /** The access tokens of now are void; refresh tokens are good. */
  expireAccessTokens(): void

  /** A new mail. Gmail notifies the topic while a watch lasts whose label it has. Answers its id. */
  deliver(mail?: NewMail): string
  deliverMany(count: number, mail?: (index: number) => NewMail): readonly string[]
  remove(id: string): void
  relabel(id: string, change: { add?: readonly string[]; remove?: readonly string[] }): void
  /** History up to now is not to be had any more: 404. */
  expireHistory(): void
  /** Notifies once more, as Pub/Sub may. */
  notifyAgain(): void
  /** The next so many notifications are never published, as Gmail says may happen. */
  loseNotifications(count: number): void
  /** A label of the person's own. Answers its id. */
  addLabel(name: string): string
  /** What the watch is, where there is one. */
  readonly watch:
    | { readonly topic: string; readonly labelIds: readonly string[]; readonly endsAt: number }
    | undefined
  /** Notifications that were not acknowledged. */
  readonly unacknowledged: number
  /** Roles of the topic: `roles/pubsub.publisher` -> members. */
  readonly roles: Readonly<Record<string, readonly string[]>>
  /** Topics and subscriptions there are. */
  readonly resources: readonly string[]
  /** Somebody else changes who has a role on the topics. Default: Gmail's push account as publisher. */
  setRole(change: { role?: string; member?: string; isGranted: boolean }): void
  /** What Pub/Sub has posted; `status` is 0 where nobody answered. */
  readonly pushes: readonly {
    readonly endpoint: string
    readonly messageId: string
    readonly status: number
    readonly at: number
  }[]
  /** What Pub/Sub pushes to the origin of `from` (`https://hooks.example.com`) goes to `to`, on loopback. */
  tunnel(from: string, to: string): void

  /** What the next calls of an operation meet, once each, in order: `gmail.users.messages.get`. `*` is every operation. */
  fail(operation: string, ...faults: readonly Fault[]): void
  /** Every call, in order. */
  readonly calls: readonly Call[]
  callsOf(operation: string): readonly Call[]
  /** Calls that Google would not have taken, though they were answered somehow: to be empty at the end of a test. */
  readonly complaints: readonly string[]
  /** Resolves when it holds; it is asked when a call comes or ends, after each push and each move of the clock. @throws Error after 20 s */
  until(isSo: () => boolean): Promise<void>
  /** What Google's clock says. */
  now(): number
  /** Moves Google's clock; watches end, ack deadlines pass. */
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
  /** The whole payload, in place of what is made of the fields above. */
  readonly payload?: object
}

/** `status` with Google's own body for it; `reason` as in Google's errors: `rateLimitExceeded`, `accessNotConfigured`. */
export type Fault =
  | { readonly status: number; readonly reason?: string; readonly retryAfter?: number }
  /** The connection ends before the answer, before or after the call took effect. */
  | { readonly cut: 'before' | 'after' }
  /** No answer until the caller gives up. */
  | { readonly hang: true }
  /** 200 with this text. */
  | { readonly garbage: string }
  /** Held until the promise settles, then as usual. */
  | { readonly until: Promise<unknown> }

export interface Call {
  /** `gmail.users.history.list`, `pubsub.projects.subscriptions.pull`, `oauth.token`, `oauth.auth`. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly body: unknown
  /** What it was answered with; 0 where it was cut. */
  readonly status: number
  /** By the stand-in's clock. */
  readonly at: number
}
