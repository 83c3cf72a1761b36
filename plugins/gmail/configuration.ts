/** Describes the configuration of a mailbox that is watched. */

/** The configuration as `config.schema.json` checks it, with defaults filled in. */
export interface GmailConfiguration {
  /** The address of the mailbox: `ada@example.com`. */
  readonly account: string
  /** The label of the mails that count, by name or id. Default: `INBOX`. */
  readonly label: string
  /** Mails with one of these labels are left out. Default: spam, trash, drafts and sent mail. */
  readonly exclude: readonly string[]
  /** The history is read this often, in seconds. Default: 10. */
  readonly pollSeconds: number
  /** Default: true. */
  readonly includeBody: boolean
  /** Maximum size of the text of one mail, in bytes of UTF-8. Default: 20,000. */
  readonly maxBytes: number
  /** The addresses of Google, for tests and emulators, without a slash at the end. */
  readonly baseUrls: BaseUrls
}

export interface BaseUrls {
  /** Where people give their consent. Default: `https://accounts.google.com`. */
  readonly accounts: string
  /** Where tokens are given out. Default: `https://oauth2.googleapis.com`. */
  readonly oauth: string
  /** Default: `https://gmail.googleapis.com`. */
  readonly gmail: string
}

/** The endpoint to which mails are posted: `/hooks/gmail`. */
export const mailEndpoint = 'gmail'
