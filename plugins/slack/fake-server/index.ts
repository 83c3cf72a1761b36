/** A fake server of Slack's Web API: it knows one workspace, remembers what is posted, and refuses what Slack would refuse. */

import type { Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
} from '@reveille/kit/fake-server'
import { type Fields, fieldsOf } from './body.ts'
import { readMarkdown } from './markdown.ts'
import { readMrkdwn } from './mrkdwn.ts'
import { botToken, createWorkspace, existing } from './workspace.ts'

export interface FakeSlackOptions {
  /** Of the configuration that it offers. Default: `markdown`. */
  readonly format?: 'markdown' | 'mrkdwn'
}

/** Pure. What a person reads of a part. */
export function visibleText(part: Part): string {
  return part['format'] === 'mrkdwn' ? readMrkdwn(part.text) : readMarkdown(part.text)
}

export async function openVendor({ format = 'markdown' }: FakeSlackOptions = {}): Promise<FakeVendor> {
  const workspace = createWorkspace()
  const methods: Readonly<Record<string, (fields: Fields) => object>> = {
    'auth.test': workspace.authTest,
    'chat.postMessage': workspace.postMessage,
    'conversations.open': workspace.openConversation,
  }

  const fakeServer = await openFakeServer({
    isSend: ({ path }) => path === '/api/chat.postMessage',
    answer(request) {
      const [, name = ''] = /^\/api\/([\w.]+)$/.exec(request.path) ?? []
      if (name === '') return { status: 404, body: '<html>Not found</html>' }
      const method = methods[name]
      if (method === undefined) return refuse('unknown_method')
      const read = fieldsOf(request)
      if ('error' in read) return refuse(read.error)
      const token = tokenOf(request, read.fields)
      if (token === undefined) return refuse('not_authed')
      if (token !== botToken) return refuse('invalid_auth')
      return { body: { ...method(read.fields), ...read.warning } }
    },
  })

  return {
    ...fakeServer,
    messages: workspace.messages,
    pings: workspace.pings,
    config: { botToken, baseUrl: `${fakeServer.url}/api`, format },
    secrets: [botToken],
    to: existing.channel,
    unknownTo: 'C0NOBODY00',
    threadTo: `${existing.channel}:thread:1700000000.000100`,
    refusals: {
      badCredential: refuse('token_revoked'),
      forbidden: refuse('not_in_channel'),
      rateLimited: (seconds) => ({
        status: 429,
        headers: { 'retry-after': String(seconds) },
        body: { ok: false, error: 'ratelimited' },
      }),
      serverError: refuse('internal_error'),
      badGateway: {
        status: 502,
        headers: { 'content-type': 'text/html' },
        body: '<html><body>Bad Gateway</body></html>',
      },
    },
  }
}

function refuse(error: string): FakeServerAnswer {
  return { body: { ok: false, error } }
}

/** The header wins; a form may carry it as a field. */
function tokenOf({ headers }: FakeServerRequest, fields: Fields): string | undefined {
  const [, token] = /^Bearer (\S+)$/i.exec(headers['authorization'] ?? '') ?? []
  return token ?? (typeof fields['token'] === 'string' ? fields['token'] : undefined)
}
