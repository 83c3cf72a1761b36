/** Tests that Gmail keeps the promises of every source, against the fake Google. */

import { sourceConformance } from '@reveille/kit/conformance'
import { createFakeGoogle } from '../../test/google/index.ts'
import type { Credentials } from './google/credentials.ts'
import type { MailPost } from './mail/index.ts'

sourceConformance({
  name: 'Gmail conforms',
  plugin: new URL('./index.ts', import.meta.url),
  async create() {
    const google = await createFakeGoogle()
    const credentials = google.credentials() as Credentials
    const { clientSecret, refreshToken, accessToken } = credentials
    const always = <Value>(value: Value) => Array.from({ length: 1000 }, () => value)
    return {
      config: { account: google.account, baseUrls: google.baseUrls },
      storage: { credentials },
      secrets: [clientSecret, refreshToken, accessToken].filter((secret) => secret !== undefined),
      happen: () => google.deliver({ subject: 'Lunch?', text: 'At noon.' }),
      idsIn: (body) => (body as MailPost).messages.map(({ id }) => id),
      stall: () => google.fail('*', ...always({ hang: true } as const)),
      fail: () => google.fail('*', ...always({ status: 503 })),
      close: () => google.close(),
    }
  },
})
