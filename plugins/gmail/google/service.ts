/** Describes the services of Google that the plugin calls. */

export interface Service {
  /** The name in sentences. */
  readonly name: string
  /** The name of the API in Google's console, and its address there. */
  readonly api: string
  readonly console: string
  /** The key of the service in `baseUrls`. */
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
