/**
 * Provides what tests of setup share: Google in memory, a person who follows the page, and a clock that the test
 * moves.
 */

import { type ConnectCall, type ConnectStep, PluginError } from '@reveille/kit'
import type { AuthorizationRequest, Grant } from '../google/consent.ts'
import { scopes } from '../google/credentials.ts'
import type { Gmail, Label, PubSub, Push, Subscription } from '../google/port.ts'
import type { GoogleAccess } from './consent.ts'
import { connectMailbox, type Wanted } from './index.ts'

export const account = 'ada@example.com'
export const clientFile = {
  installed: {
    client_id: '4711-abc.apps.googleusercontent.com',
    client_secret: 'secret-of-client',
    project_id: 'harbour-4711',
    redirect_uris: ['http://localhost'],
  },
}
export const goodCode = '4/0AbCdEfGhIjKlMnOpQrStUv'
export const secrets = ['secret-of-client', goodCode, 'refresh-token-1', 'access-token-1', 'verifier-1']
export const names = {
  topic: 'projects/harbour-4711/topics/reveille-gmail',
  subscription: 'projects/harbour-4711/subscriptions/reveille-gmail',
}
export const dayMs = 24 * 60 * 60_000

export function refusal(code: string, retryable = false, retryAfter?: number): PluginError {
  return new PluginError(`Google refused (${code}).`, { code, retryable, retryAfter })
}

/** Makes a project and a mailbox in memory. `changes` lists each call that changed something. */
export function createGoogle() {
  const google = {
    emailAddress: account,
    granted: [...scopes] as readonly string[],
    isRevoked: false,
    labels: [
      { id: 'INBOX', name: 'INBOX' },
      { id: 'Label_1', name: 'Orders' },
    ] as readonly Label[],
    topics: new Set<string>(),
    subscriptions: new Map<string, Subscription>(),
    members: new Set<string>(),
    changes: [] as string[],
    /** Maps an operation to what its next calls throw. */
    faults: new Map<string, PluginError[]>(),
    asked: [] as AuthorizationRequest[],
    exchanged: [] as string[],
    /** The exchange of a code waits for this promise. */
    untilExchanged: Promise.resolve() as Promise<unknown>,
    historyId: '1000',
    now: 0,
  }

  function meet(operation: string): void {
    const fault = google.faults.get(operation)?.shift()
    if (fault !== undefined) throw fault
  }

  function change(operation: string): void {
    meet(operation)
    google.changes.push(operation)
  }

  const gmail = {
    async profile() {
      meet('profile')
      if (google.isRevoked) throw refusal('consent-revoked')
      return { emailAddress: google.emailAddress, historyId: google.historyId }
    },
    async labels() {
      meet('labels')
      return google.labels
    },
    async watch() {
      change('watch')
      return { historyId: google.historyId, endsAt: google.now + 7 * dayMs }
    },
  } as Partial<Gmail> as Gmail

  const pubsub = {
    async topic(name: string) {
      meet('topic')
      return google.topics.has(name) ? { name } : undefined
    },
    async createTopic(name: string) {
      change('createTopic')
      google.topics.add(name)
    },
    async grant(topic: string, role: string, member: string) {
      const key = `${topic} ${role} ${member}`
      if (google.members.has(key)) return 'had'
      change('grant')
      google.members.add(key)
      return 'granted'
    },
    async subscription(name: string) {
      meet('subscription')
      return google.subscriptions.get(name)
    },
    async createSubscription(subscription: Subscription) {
      change('createSubscription')
      google.subscriptions.set(subscription.name, subscription)
    },
    async changePush(name: string, push: Push | undefined) {
      change('changePush')
      const { push: _before, ...rest } = google.subscriptions.get(name) as Subscription
      google.subscriptions.set(name, push === undefined ? rest : { ...rest, push })
    },
  } as Partial<PubSub> as PubSub

  const access: GoogleAccess = {
    newVerifier: () => ({ verifier: 'verifier-1', challenge: 'challenge-1' }),
    authorizationUrl(request) {
      google.asked.push(request)
      const url = new URL('/o/oauth2/v2/auth', request.baseUrls.accounts)
      url.searchParams.set('state', request.state)
      url.searchParams.set('redirect_uri', request.redirectUri)
      return url.href
    },
    async exchange({ code }): Promise<Grant> {
      meet('exchange')
      google.exchanged.push(code)
      await google.untilExchanged
      if (code !== goodCode) throw refusal('bad-code')
      google.isRevoked = false
      return {
        refreshToken: 'refresh-token-1',
        accessToken: 'access-token-1',
        accessTokenEnds: google.now + 3_600_000,
        scopes: google.granted,
      }
    },
    openGoogle: () => ({ gmail, pubsub }),
  }
  return { google, access }
}

/** Returns the address to which Google would send the browser with a good answer; `change` spoils parts of it. */
export function redirectOf(shown: string, change: Readonly<Record<string, string | undefined>> = {}): string {
  const { searchParams } = new URL(shown)
  const target = new URL(searchParams.get('redirect_uri') ?? '')
  const query = { state: searchParams.get('state') ?? '', code: goodCode, scope: 'a b', ...change }
  for (const [key, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.set(key, value)
  return target.href
}

export function createSetup() {
  const { google, access } = createGoogle()
  const storage = new Map<string, unknown>()
  const shown = Promise.withResolvers<string>()
  const calledOff = new AbortController()
  const sleeps: { ms: number; wake: () => void }[] = []
  const setup = {
    google,
    storage,
    calledOff,
    /** What the person does with the page. By default the person consents. */
    show: (url: string): unknown => fetch(redirectOf(url)),
    /** What the person types, one text after the other. After that the person types nothing. */
    pastes: [] as string[],
    questions: [] as string[],
    steps: [] as ConnectStep[],
    /** Waits of a minute or more are under way until the test ends them; shorter ones pass by themselves. */
    sleeps,
    slept: [] as number[],
    shown: shown.promise,
    run(
      wanted: { readonly [Key in keyof Wanted]: unknown } = { client: clientFile },
      config: Record<string, unknown> = {},
    ) {
      setup.steps = []
      return connectMailbox(callOf(wanted, config), access)
    },
  }

  function callOf(wanted: Record<string, unknown>, config: Record<string, unknown>): ConnectCall {
    return {
      config,
      wanted,
      storage: {
        read: async (name) => structuredClone(storage.get(name)),
        write: async (name, value) => {
          storage.set(name, JSON.parse(JSON.stringify(value)))
        },
      },
      fetch,
      clock: {
        now: () => google.now,
        sleep(ms, signal) {
          if (ms < 60_000) {
            setup.slept.push(ms)
            return Promise.resolve()
          }
          return new Promise((resolve, reject) => {
            sleeps.push({ ms, wake: resolve })
            signal.addEventListener('abort', () => reject(signal.reason))
          })
        },
      },
      signal: calledOff.signal,
      person: {
        async show(url) {
          shown.resolve(url)
          void setup.show(url)
        },
        async ask(question) {
          setup.questions.push(question)
          return setup.pastes.shift() ?? new Promise(() => {})
        },
      },
      report: (step) => void setup.steps.push(step),
    }
  }
  return setup
}

/** Lists the steps as `step outcome`, in order. */
export function outcomes(steps: readonly ConnectStep[]): readonly string[] {
  return steps.map(({ step, outcome }) => `${step} ${outcome}`)
}
