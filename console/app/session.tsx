/** Signing in and out. A page that was open stays open behind the form, so that nothing typed is lost when a session ends. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { ApiError, callApi, get, type Identity, identity, post, saveKey, session } from '../data/api.ts'
import { useSending } from '../data/load.ts'
import { followSession } from '../data/stream.ts'
import { Logo } from '../parts/icons.tsx'

const retryMs = 3_000

/** Finds out whether this browser is signed in, and retries while the gateway is unreachable. */
export async function checkSession(): Promise<void> {
  followSession()
  for (;;) {
    try {
      identity.value = await get<Identity>('/session')
      session.value = 'open'
      return
    } catch (error) {
      if (error instanceof ApiError && error.status !== 0 && error.status < 500) {
        session.value = 'none'
        return
      }
      session.value = 'unreachable'
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

export async function signOut(): Promise<void> {
  await callApi('DELETE', '/session').catch(() => undefined)
  saveKey(undefined)
  session.value = 'none'
}

export function SignIn() {
  const [token, setToken] = useState('')
  const { isBusy, error, send } = useSending<void>()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.select(), [error])

  async function signIn() {
    const { key, ...signedIn } = await post<Identity & { key: string }>('/session', { token: token.trim() })
    saveKey(key)
    identity.value = signedIn
    setToken('')
    session.value = 'open'
    announce('You are signed in.')
  }

  return (
    <main class="sign-in" id="main">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void send(signIn())
        }}
      >
        <h1 class="wordmark">
          <Logo /> Reveille
        </h1>
        <label for="token">Gateway token</label>
        <input
          ref={field}
          id="token"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          value={token}
          aria-describedby={error === undefined ? 'token-help' : 'token-error token-help'}
          aria-invalid={error !== undefined}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        {error !== undefined && (
          <p class="note tone-bad" id="token-error" role="alert">
            {sentenceOf(error)}
          </p>
        )}
        <button class="button primary wide" type="submit" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
        <p class="quiet" id="token-help">
          The value of <code>REVEILLE_GATEWAY_TOKEN</code> in the <code>.env</code> next to{' '}
          <code>reveille.yaml</code>. You stay signed in for twelve hours.
        </p>
      </form>
    </main>
  )
}

function sentenceOf(error: ApiError): string {
  if (error.status === 401) return 'This is not the gateway token.'
  if (error.code === 'TOO_MANY_TRIES') return 'Too many failed attempts. Wait a minute, then try again.'
  return error.message
}
