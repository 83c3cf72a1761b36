/** Owns what an operator may say of a mailbox that is watched. */

/** As `config.schema.json` checks it, defaults filled in. */
export interface GmailConfiguration {
  /** The mailbox: `ada@example.com`. */
  readonly account: string
  /** Of the mails that count, by name or id. Default: `INBOX`. */
  readonly label: string
  /** Mails with one of these are left out. Default: spam, trash, drafts and sent mail. */
  readonly exclude: readonly string[]
  /** `pull`: asked for over one long request after the other. `push`: Google posts. Default: `pull`. */
  readonly mode: 'pull' | 'push'
  /** `projects/<project>/topics/<topic>`. */
  readonly topic: string
  /** `projects/<project>/subscriptions/<subscription>`. */
  readonly subscription: string
  /** Default: true. */
  readonly includeBody: boolean
  /** Of the text of one mail, in bytes of UTF-8. Default: 20,000. */
  readonly maxBytes: number
  /** A watch lasts seven days; this often it is begun anew. Minutes; default 720. */
  readonly renewEveryMinutes: number
  /** Where Google is, for tests and emulators: without a slash at the end. */
  readonly baseUrls: BaseUrls
}

export interface BaseUrls {
  /** Where people give their consent. Default: `https://accounts.google.com`. */
  readonly accounts: string
  /** Where tokens are given out. Default: `https://oauth2.googleapis.com`. */
  readonly oauth: string
  /** Default: `https://gmail.googleapis.com`. */
  readonly gmail: string
  /** Default: `https://pubsub.googleapis.com`. */
  readonly pubsub: string
}

/** Where the gateway takes mails: `/hooks/gmail`. */
export const mailEndpoint = 'gmail'
/** Where Google posts notifications, in mode `push`: `/hooks/gmail/push`. */
export const pushEndpoint = 'gmail/push'
