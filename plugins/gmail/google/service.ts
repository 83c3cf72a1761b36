/** Owns what is said of the services of Google's that are asked. */

export interface Service {
  /** In sentences. */
  readonly name: string
  /** What the console calls it, and under which address it has it. */
  readonly api: string
  readonly console: string
  /** The key of `baseUrls`. */
  readonly key: 'gmail' | 'pubsub' | 'oauth'
}

export const gmailService: Service = {
  name: 'Gmail',
  api: 'Gmail API',
  console: 'https://console.cloud.google.com/apis/library/gmail.googleapis.com',
  key: 'gmail',
}

export const pubsubService: Service = {
  name: 'Pub/Sub',
  api: 'Cloud Pub/Sub API',
  console: 'https://console.cloud.google.com/apis/library/pubsub.googleapis.com',
  key: 'pubsub',
}

/** The token server. */
export const oauthService = { name: "Google's token server", key: 'oauth' } as const
