/** Owns Google's libraries: how they are set up, so that nothing but what is configured decides where requests go. */

import { gmail, type gmail_v1 } from '@googleapis/gmail'
import { OAuth2Client } from 'google-auth-library'
import type { BaseUrls } from '../configuration.ts'
import type { Adapter } from './exchange.ts'

export interface OAuthApp {
  readonly clientId: string
  readonly clientSecret?: string
}

/** The client of one exchange with the token server, or of all calls with one access token. */
export interface ClientOptions {
  readonly app: OAuthApp
  readonly baseUrls: BaseUrls
  readonly refreshToken?: string
  /** Without a time: whether it is still good is not decided by the library, which would ask the system's clock. */
  readonly accessToken?: string
  readonly adapter?: Adapter
}

export function createClient(options: ClientOptions): OAuth2Client {
  const { app, baseUrls, refreshToken, accessToken, adapter } = options
  return new OAuth2Client({
    clientId: app.clientId,
    clientSecret: app.clientSecret,
    endpoints: {
      oauth2AuthBaseUrl: `${baseUrls.accounts}/o/oauth2/v2/auth`,
      oauth2TokenUrl: `${baseUrls.oauth}/token`,
    },
    credentials: { refresh_token: refreshToken, access_token: accessToken },
    transporterOptions: {
      adapter,
      // Else the variable HTTPS_PROXY makes it load an agent, which `fetch` would not use.
      noProxy: [/^/],
    },
    // These write answers of the token server to stderr where GOOGLE_SDK_NODE_LOGGING is set.
    useAuthRequestParameters: false,
  })
}

export function createGmail(auth: OAuth2Client): gmail_v1.Gmail {
  // Else the variable GOOGLE_CLOUD_UNIVERSE_DOMAIN decides where the token goes.
  return gmail({ version: 'v1', auth, universeDomain: 'googleapis.com' })
}
