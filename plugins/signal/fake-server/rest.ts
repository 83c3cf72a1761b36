/** A fake of signal-cli-rest-api with the same account. */

import {
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
} from '@reveille/kit/fake-server'
import { createAccount, ownNumber, people } from './account.ts'

export function restError(status: number, error: string, more: object = {}): FakeServerAnswer {
  return { status, body: { error, account: ownNumber, ...more } }
}

const refusals: FakeVendor['refusals'] = {
  badCredential: restError(400, 'Specified account does not exist'),
  forbidden: restError(400, 'Failed to send message: Untrusted Identity for "+41792222222"'),
  rateLimited: () => restError(429, 'Rate limit exceeded', { challenge_tokens: ['a-token'] }),
  serverError: restError(500, 'Internal error'),
}

export async function openRestVendor(): Promise<FakeVendor> {
  const account = createAccount()
  const fakeServer = await openFakeServer({ answer, isSend: ({ path }) => path === '/v2/send' })
  return {
    ...fakeServer,
    messages: account.messages,
    config: { baseUrl: fakeServer.url, api: 'rest', account: ownNumber },
    secrets: [],
    to: people.ada.number,
    unknownTo: '+41790000000',
    refusals,
  }

  function answer({ method, path, json }: FakeServerRequest): FakeServerAnswer {
    if (method === 'GET' && path === '/v1/health') return { status: 204 }
    if (method !== 'POST' || path !== '/v2/send') return { status: 404, body: '404 page not found' }
    const {
      number,
      recipients,
      message,
      text_mode: mode = 'normal',
    } = (json ?? {}) as Record<string, unknown>
    if (!Array.isArray(recipients) || recipients.length === 0) {
      return restError(400, "Couldn't process request - please provide at least one recipient")
    }
    if (typeof number !== 'string') return restError(400, "Couldn't process request - number missing")
    if (mode !== 'normal' && mode !== 'styled') return restError(400, "Couldn't process request - text_mode")
    const [first] = recipients
    const group = /^group\.(.+)$/.exec(String(first))?.[1]
    const address =
      group === undefined
        ? { recipient: recipients }
        : { groupId: [Buffer.from(group, 'base64').toString('utf8')] }
    const given = account.send({ account: number, message, ...address })
    if ('code' in given) return restError(400, `${given.message}: ${wordsOf(given.data)}`)
    return { status: 201, body: { timestamp: String(given.result.timestamp) } }
  }
}

/** Returns what the wrapper reads of the results in an error. */
function wordsOf(data: object | null): string {
  return /UNREGISTERED/.test(JSON.stringify(data)) ? 'Unregistered user' : ''
}
