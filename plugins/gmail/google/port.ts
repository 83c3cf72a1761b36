/**
 * Declares what the plugin asks of Google. Every call takes a signal and throws PluginErrors, whose codes are
 * `consent-revoked` (the person has to consent again), `bad-client` (the OAuth client is refused), `missing-scope`,
 * `api-disabled`, `forbidden`, `not-found`, `rate-limited` (with `retryAfter` if Google names it), `unavailable`,
 * `malformed`, `network`, `bad-request` (Google refuses the request), and those that are named at the calls. Errors
 * that may pass by themselves are retryable.
 */

export interface Gmail {
  profile(signal: AbortSignal): Promise<{ readonly emailAddress: string; readonly historyId: string }>
  labels(signal: AbortSignal): Promise<readonly Label[]>
  /** Lists the mails that came since. @throws PluginError `history-expired`: Google keeps no history that old */
  history(request: HistoryRequest, signal: AbortSignal): Promise<HistoryPage>
  /** Returns undefined if the mail is gone. `text: false` asks for headers and snippet alone. */
  message(
    id: string,
    options: { readonly text: boolean },
    signal: AbortSignal,
  ): Promise<RawMessage | undefined>
  /** Lists the mails with the label that came after a time, the newest first. */
  list(request: ListRequest, signal: AbortSignal): Promise<ListPage>
}

export interface Label {
  readonly id: string
  readonly name: string
}

export interface HistoryRequest {
  readonly since: string
  readonly labelId: string
  readonly pageToken?: string
}

export interface HistoryPage {
  /** The mails that were added, the oldest first, without repeats. */
  readonly messageIds: readonly string[]
  /** The id of the last record of this page, from which a later request can go on. Absent if the page is empty. */
  readonly lastId?: string
  /** The current end of the mailbox's history. */
  readonly historyId: string
  readonly nextPageToken?: string
}

export interface ListRequest {
  readonly labelId: string
  /** Milliseconds since the Unix epoch. Google compares whole seconds. */
  readonly after: number
  readonly max: number
  readonly pageToken?: string
}

export interface ListPage {
  readonly messageIds: readonly string[]
  readonly nextPageToken?: string
}

/**
 * A mail as Gmail gives it (`users.messages`, format `full` or `metadata`). Senders wrote it, so any field may be
 * wrong.
 */
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
