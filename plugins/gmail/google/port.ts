/**
 * Owns what the plugin asks of Google, in its own words. Every call takes a signal and throws PluginErrors, whose codes are
 * `consent-revoked` (the person has to consent anew), `bad-client` (the OAuth client is refused), `missing-scope`,
 * `api-disabled`, `forbidden`, `not-found`, `rate-limited` (with `retryAfter` where Google says), `unavailable`,
 * `malformed`, `network`, `bad-request` (Google refuses what was asked), and what is named at the calls. Those that may
 * pass by themselves are retryable.
 */

export interface Google {
  readonly gmail: Gmail
  readonly pubsub: PubSub
}

export interface Gmail {
  profile(signal: AbortSignal): Promise<{ readonly emailAddress: string; readonly historyId: string }>
  labels(signal: AbortSignal): Promise<readonly Label[]>
  /**
   * Begins the watch, or begins it anew. @throws PluginError `watched-elsewhere`: the same OAuth client has the mailbox
   * watched for another topic
   */
  watch(request: WatchRequest, signal: AbortSignal): Promise<Watch>
  /** Ends the watch that this OAuth client has of the mailbox, whatever its topic. */
  stop(signal: AbortSignal): Promise<void>
  /** Which mails came since. @throws PluginError `history-expired`: Google keeps no history that old */
  history(request: HistoryRequest, signal: AbortSignal): Promise<HistoryPage>
  /** Undefined where it is gone. `text: false` asks for headers and snippet alone. */
  message(
    id: string,
    options: { readonly text: boolean },
    signal: AbortSignal,
  ): Promise<RawMessage | undefined>
  /** Mails with the label that came after a time, the newest first. */
  list(request: ListRequest, signal: AbortSignal): Promise<ListPage>
}

export interface Label {
  readonly id: string
  readonly name: string
}

export interface WatchRequest {
  readonly topic: string
  readonly labelId: string
}

export interface Watch {
  /** Where the mailbox's history stands. A decimal number. */
  readonly historyId: string
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number
}

export interface HistoryRequest {
  readonly since: string
  readonly labelId: string
  readonly pageToken?: string
}

export interface HistoryPage {
  /** Of mails that were added, the oldest first, without repeats. */
  readonly messageIds: readonly string[]
  /** Of the last record of this page; absent where there is none. A history asked for since then goes on after it. */
  readonly lastId?: string
  /** Where the mailbox's history stands. */
  readonly historyId: string
  readonly nextPageToken?: string
}

export interface ListRequest {
  readonly labelId: string
  /** Milliseconds since the Unix epoch; Google looks at whole seconds. */
  readonly after: number
  readonly max: number
  readonly pageToken?: string
}

export interface ListPage {
  readonly messageIds: readonly string[]
  readonly nextPageToken?: string
}

/** As Gmail gives it (`users.messages`, format `full` or `metadata`): nothing in it can be relied on. */
export interface RawMessage {
  readonly id: string
  readonly threadId?: string
  readonly labelIds?: readonly string[]
  readonly snippet?: string
  /** Milliseconds since the Unix epoch, in decimal. */
  readonly internalDate?: string
  readonly payload?: RawPart
}

export interface RawPart {
  readonly mimeType?: string
  readonly filename?: string
  readonly headers?: readonly { readonly name?: string; readonly value?: string }[]
  /** `data` is base64url. */
  readonly body?: { readonly data?: string; readonly size?: number; readonly attachmentId?: string }
  readonly parts?: readonly RawPart[]
}

export interface PubSub {
  /** Waits for notifications as long as Google does, which is a minute and a half at most; then an empty list. */
  pull(subscription: string, max: number, signal: AbortSignal): Promise<readonly Notification[]>
  acknowledge(subscription: string, ackIds: readonly string[], signal: AbortSignal): Promise<void>
  /** Gives them back, or more time for them. Seconds; 0 gives back. */
  extend(subscription: string, ackIds: readonly string[], seconds: number, signal: AbortSignal): Promise<void>
  /** Undefined where there is none. */
  topic(name: string, signal: AbortSignal): Promise<{ readonly name: string } | undefined>
  /** Does nothing where there is one. */
  createTopic(name: string, signal: AbortSignal): Promise<void>
  subscription(name: string, signal: AbortSignal): Promise<Subscription | undefined>
  /** @throws PluginError `exists` */
  createSubscription(subscription: Subscription, signal: AbortSignal): Promise<void>
  /** Undefined turns it into one that is pulled. */
  changePush(name: string, push: Push | undefined, signal: AbortSignal): Promise<void>
  /**
   * Whether the member had the role already. Reads, changes and writes the policy, once more where somebody else did.
   * @throws PluginError `policy-forbids`: a policy of the organisation lets no such member in
   */
  grant(topic: string, role: string, member: string, signal: AbortSignal): Promise<'granted' | 'had'>
}

export interface Notification {
  /** Absent in mode `push`: the answer acknowledges. */
  readonly ackId?: string
  readonly messageId: string
  /** Undefined where it is none of Gmail's. */
  readonly about?: { readonly emailAddress: string; readonly historyId: string }
}

export interface Subscription {
  readonly name: string
  readonly topic: string
  readonly push?: Push
  /** Seconds. */
  readonly ackDeadline: number
}

export interface Push {
  readonly endpoint: string
  readonly serviceAccount?: string
  readonly audience?: string
}
