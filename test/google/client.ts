/** Calls the fake Google as an independent client does, for its own tests. */

import { createFakeGoogle, type FakeGoogle, type FakeGoogleOptions } from './index.ts'

export interface Ask {
  readonly method?: string
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
  /** The text to send in place of `body` as JSON. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it.
  readonly body: any
  readonly headers: Headers
}

export interface Asking extends AsyncDisposable {
  readonly google: FakeGoogle
  /** Returns the first mistake. */
  readonly token: string
  readonly topic: string
  readonly subscription: string
  /** Calls with a good token. `path` begins with a service: `gmail/gmail/v1/users/me/profile`. */
  ask(path: string, request?: Ask): Promise<Answered>
  /** Makes a token for another hour. */
  renew(): Promise<void>
  /** Posts a form, by default to the token endpoint. */
  submit(form: Readonly<Record<string, string>>, endpoint?: string): Promise<Answered>
}

export const start = Date.UTC(2026, 0, 2, 9)

export async function openAsking(options: FakeGoogleOptions = {}): Promise<Asking> {
  const google = await createFakeGoogle({ now: start, pullWait: 0, ...options })
  const base = google.baseUrls.gmail.replace(/\/gmail$/, '')
  const { clientId, clientSecret, refreshToken } = google.credentials() as Record<string, string>

  async function call(url: URL, init: RequestInit): Promise<Answered> {
    const response = await fetch(url, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parse(text) }
  }

  async function submit(form: Readonly<Record<string, string>>, endpoint = 'token'): Promise<Answered> {
    const url = new URL(`${google.baseUrls.oauth}/${endpoint}`)
    return call(url, { method: 'POST', body: new URLSearchParams(form) })
  }

  async function freshToken(): Promise<string> {
    const { body } = await submit({
      grant_type: 'refresh_token',
      client_id: clientId ?? '',
      client_secret: clientSecret ?? '',
      refresh_token: refreshToken ?? '',
    })
    return body.access_token
  }

  const token = await freshToken()
  let current = token
  return {
    google,
    token,
    ...google.prepare(),
    submit,
    async renew() {
      current = await freshToken()
    },
    ask(path, { method, query = {}, body, text, headers = {} } = {}) {
      const url = new URL(`${base}/${path}`)
      for (const [name, value] of Object.entries(query)) {
        for (const each of [value].flat()) url.searchParams.append(name, each)
      }
      const content = text ?? (body === undefined ? undefined : JSON.stringify(body))
      const type: Record<string, string> = content === undefined ? {} : { 'content-type': 'application/json' }
      return call(url, {
        method: method ?? (content === undefined ? 'GET' : 'POST'),
        headers: { authorization: `Bearer ${current}`, ...type, ...headers },
        body: content,
      })
    },
    [Symbol.asyncDispose]: google.close,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
