/**
 * Runs the server on loopback to which Google sends the browser back. It waits for one answer, turns all other
 * requests away, and closes after the answer. https://www.rfc-editor.org/rfc/rfc8252#section-7.3
 */

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { permanentError } from '@reveille/kit'
import { type Redirect, readRedirect } from './redirect.ts'

export type Answer = Exclude<Redirect, { mistake: string }>

export type Loopback = Awaited<ReturnType<typeof openLoopback>>

interface Page {
  readonly title: string
  /** The outcome and the next step, in one or two sentences. */
  readonly text: string
}

/** Milliseconds that the server waits, when closing, for a page being sent or a request that does not end. */
const closeAfterMs = 500

const pages = {
  consented: {
    title: 'Google has answered',
    text: 'You can close this window and go back to the terminal.',
  },
  refused: {
    title: 'There is no consent',
    text: 'Nothing was allowed. You can close this window; the terminal says how to go on.',
  },
  foreign: {
    title: 'This answer is not the one that is waited for',
    text: 'It belongs to another run of the setup. Open the address that the terminal shows now.',
  },
  incomplete: {
    title: 'This address holds no answer',
    text: 'Open the address that the terminal shows again.',
  },
  late: {
    title: 'Google has answered already',
    text: 'You can close this window and go back to the terminal.',
  },
} as const satisfies Record<string, Page>

/** @throws PluginError `no-loopback` */
export async function openLoopback(state: string) {
  const { promise: answered, resolve } = Promise.withResolvers<Answer>()
  let isAnswered = false

  const server = createServer((request, response) => {
    const { redirect, ...reply } = replyTo(request, origin, state)
    const page = redirect && isAnswered ? pages.late : reply.page
    response.writeHead(reply.status, { ...pageHeaders(), ...reply.headers })
    response.end(page === undefined ? '' : renderPage(page))
    if (redirect === undefined || isAnswered) return
    isAnswered = true
    resolve(redirect)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening').catch((cause) => {
    throw permanentError(
      'no-loopback',
      `No port on 127.0.0.1 could be opened for Google's answer (${(cause as NodeJS.ErrnoException).code}).`,
    )
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    /** The address to which Google is to send the browser. */
    redirectUri: `${origin}/`,
    /** Resolves with the first answer that carries our state. */
    answered,
    /** Takes no more requests. A page that is being sent is sent to its end. */
    async close() {
      const closed = once(server, 'close')
      server.close()
      const lingering = setTimeout(() => server.closeAllConnections(), closeAfterMs)
      await closed
      clearTimeout(lingering)
    },
  }
}

interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly page?: Page
  readonly redirect?: Answer
}

/** Judges a request. The host must be ours, because a hostile page can make a name of its own lead here. */
function replyTo({ method, url, headers }: IncomingMessage, origin: string, state: string): Reply {
  const target = URL.parse(url ?? '', origin)
  const isOurs = `http://${headers.host}` === origin && target?.origin === origin && target.pathname === '/'
  if (target === null || !isOurs || target.search === '') return { status: 404 }
  if (method !== 'GET') return { status: 405, headers: { allow: 'GET' } }
  const redirect = readRedirect(target.searchParams, state, true)
  if ('mistake' in redirect)
    return { status: 400, page: redirect.mistake === 'other-state' ? pages.foreign : pages.incomplete }
  return { status: 200, page: 'code' in redirect ? pages.consented : pages.refused, redirect }
}

const style = [
  ':root{color-scheme:light dark}',
  'body{margin:0;min-height:100vh;display:grid;place-items:center;font:17px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}',
  'main{max-width:26rem;padding:2rem}',
  'h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}',
  'p{margin:0}',
].join('')

export function renderPage({ title, text }: Page): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${quoted(title)}</title><style>${style}</style></head>`,
    `<body><main><h1>${quoted(title)}</h1><p>${quoted(text)}</p></main></body>`,
    '</html>',
    '',
  ].join('\n')
}

/** Keeps the address of the page, which holds a code, from being sent elsewhere. */
function pageHeaders(): Readonly<Record<string, string>> {
  const own = hash('sha256', style, 'base64')
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${own}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
}

function quoted(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}
