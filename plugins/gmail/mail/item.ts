/** Owns what the gateway is told of a mail. */

/** Everything in it but the ids is a stranger's word. */
export interface MailItem {
  readonly id: string
  readonly threadId: string
  readonly from: string
  readonly to: string
  readonly subject: string
  /** As the mail says it; else of when Gmail got it, in the same form (RFC 5322). */
  readonly date: string
  readonly snippet: string
  /** Text; empty where it is not wanted. */
  readonly body: string
  readonly bodyTruncated: boolean
  readonly labels: readonly string[]
}

/** The body of a post to `mailEndpoint`. */
export interface MailPost {
  readonly source: 'gmail'
  readonly account: string
  readonly historyId: string
  readonly messages: readonly MailItem[]
}
