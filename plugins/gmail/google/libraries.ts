/** Sets Google's libraries up, so that only the configuration decides where requests go. */

import { gmail, type gmail_v1 } from '@googleapis/gmail'
import { OAuth2Client } from 'google-auth-library'
import type { BaseUrls } from '../configuration.ts'
import type { Credentials } from './credentials.ts'
import type { Adapter } from './exchange.ts'

/** Options of a client for one exchange with the token server, or for all calls with one access token. */
export interface ClientOptions {
  readonly app: Pick<Credentials, 'clientId' | 'clientSecret'>
  readonly baseUrls: BaseUrls
  readonly refreshToken?: string
  /** The token comes without its end, because the library would compare that with the system's clock. */
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
      // Otherwise the variable HTTPS_PROXY makes the library load an agent, which `fetch` would not use.
      noProxy: [/^/],
    },
    // With these, the library writes answers of the token server to stderr where GOOGLE_SDK_NODE_LOGGING is set.
    useAuthRequestParameters: false,
  })
}

export function createGmail(auth: OAuth2Client): gmail_v1.Gmail {
  // Otherwise the variable GOOGLE_CLOUD_UNIVERSE_DOMAIN decides where the token goes.
  return gmail({ version: 'v1', auth, universeDomain: 'googleapis.com' })
}
