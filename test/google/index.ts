/** Assembles the fake Google, and serves each call from its request to its answer. */

import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { type FakeServerAnswer, type FakeServerRequest, openFakeServer } from '@reveille/kit/fake-server'
import { createGmail } from './gmail.ts'
import { createMailbox, type NewMail } from './mailbox.ts'
import { type Answer, createOAuth } from './oauth.ts'
import { createPubSub } from './pubsub.ts'
import { publicKeys } from './push.ts'
import { badArgument, missingScope, Refusal, refusal, type Scripted, scriptedRefusal } from './refusal.ts'
import { mistakesIn, type Row, readQuery, rows, type Service, type Values } from './requests.ts'

/** Returns the JSON of the answer; undefined is an empty answer, 204. @throws Refusal */
export type Handler = (request: {
  /** The groups of the row's path: the mailbox or resource, and what is below it. */
  readonly path: readonly string[]
  readonly query: Values
  // biome-ignore lint/suspicious/noExplicitAny: it has the shape of its row.
  readonly body: any
  /** The account that consented. */
  readonly account: string
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal
}) => object | undefined | Promise<object | undefined>

/** `reason` is one of Google's: `rateLimitExceeded`, `accessNotConfigured`. */
export type Fault =
  | Scripted
  /** Ends the connection before the answer, before or after the call took effect. */
  | { readonly cut: 'before' | 'after' }
  /** Gives no answer until the caller aborts. */
  | { readonly hang: true }
  /** Answers 200 with this text. */
  | { readonly garbage: string }
  /** Holds the call until the promise settles, and then answers as usual. */
  | { readonly until: Promise<unknown> }

export interface Call {
  /** `gmail.users.history.list`, `pubsub.projects.subscriptions.pull`, `oauth.token`, `oauth.auth`. */
  readonly operation: string
  readonly body: unknown
  /** The status of the answer, or 0 if the call was cut. */
  status: number
}

export interface FakeGoogleOptions {
  /** The time at which its clock stands until it is advanced. Without it, the clock runs. */
  readonly now?: number
  /** How long a pull waits for a message, in real milliseconds; Google waits for a minute and a half. Default: 1,000. */
  readonly pullWait?: number
}

export type FakeGoogle = Awaited<ReturnType<typeof createFakeGoogle>>

const project = 'harbour-lights-4711'
const account = 'ada@example.com'
/** A test that waits longer fails. Milliseconds. */
const timeoutMs = 20_000

export async function createFakeGoogle({ now: start, pullWait = 1_000 }: FakeGoogleOptions = {}) {
  let ahead = 0
  const now = () => (start ?? Date.now()) + ahead
  const changes = new EventEmitter().setMaxListeners(0)
  const changed = () => void changes.emit('change')
  const client = {
    id: '471100000000-standin.apps.googleusercontent.com',
    secret: `GOCSPX-${randomBytes(21).toString('base64url')}`,
  }
  const oauth = createOAuth(client, now)
  const pubsub = createPubSub({ now, pullWait, onPush: changed })
  let lost = 0
  const mailbox = createMailbox(account, now, ({ mail }) => {
    if (lost > 0) lost -= 1
    else gmail.announce(mail)
  })
  const gmail = createGmail({ project, mailbox, now, publish: pubsub.publish })
  const handlers: Readonly<Record<string, Handler>> = { ...gmail.handlers, ...pubsub.handlers }

  const calls: Call[] = []
  const mistakes: string[] = []
  const faults = new Map<string, Fault[]>()

  /** Returns the scopes' grant of the caller. @throws Refusal */
  function authenticate(service: Service, { scopes }: Row, authorization = ''): string {
    const [, text = ''] = /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization) ?? []
    const token = oauth.accessToken(text)
    if (token === undefined || token.grant.isRevoked || token.endsAt <= now()) {
      // A token that was good before is not the caller's mistake.
      throw refusal(service, { code: 401, isWrong: token === undefined })
    }
    // A person may leave scopes out, which is not the caller's mistake.
    if (!scopes.some((scope) => token.grant.scopes.includes(scope))) {
      throw missingScope(service, !token.grant.isPartial)
    }
    return token.grant.account
  }

  /** Checks everything about a call of Gmail or Pub/Sub that does not depend on state. @throws Refusal */
  function prepare(operation: string, service: Service, row: Row, request: FakeServerRequest) {
    const caller = authenticate(service, row, request.headers['authorization'])
    const { text, json, headers } = request
    const isJson = headers['content-type']?.startsWith('application/json') && typeof json === 'object'
    if (text !== '' && !isJson) throw badArgument(service, 'The body is no JSON.')
    const query = readQuery(row, request.query)
    const wrong = mistakesIn(row, query, json)
    if (wrong.length > 0) throw badArgument(service, wrong.join('\n'))
    const path = row.path.exec(request.path.slice(`/${service}`.length))?.slice(1) ?? []
    const [owner = ''] = path
    if (service === 'gmail' && owner !== 'me' && owner !== caller) {
      throw refusal(service, { code: 403, message: `Delegation denied for ${caller}`, isWrong: true })
    }
    if (service === 'pubsub' && owner.split('/')[1] !== project) {
      throw refusal(service, { code: 403, message: 'User not authorized to perform this action.' })
    }
    const { signal = new AbortController().signal } = request
    return async (): Promise<FakeServerAnswer> => {
      const answer = await handlers[operation]?.({ path, query, body: json ?? {}, account: caller, signal })
      return answer === undefined ? { status: 204 } : { body: answer }
    }
  }

  const plain: Readonly<Record<string, (request: FakeServerRequest) => () => Promise<FakeServerAnswer>>> = {
    'oauth.auth': ({ query }) => {
      oauth.checkPage(query)
      return async () => ({ body: '<!doctype html><title>Sign in</title>' })
    },
    'oauth.token': ({ text }) => {
      const form = new URLSearchParams(text)
      oauth.checkForm(form)
      return async () => ({ body: oauth.answerForm(form), headers: { 'cache-control': 'no-store' } })
    },
    'oauth.certs': () => async () => ({
      body: await publicKeys(),
      headers: { 'cache-control': 'public, max-age=20000, must-revalidate' },
    }),
  }

  async function answer(request: FakeServerRequest): Promise<FakeServerAnswer | 'cut' | 'hang'> {
    const { operation, service, row } = findOperation(request)
    const form = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
    const body = form ? Object.fromEntries(new URLSearchParams(request.text)) : request.json
    const call: Call = { operation, body, status: 0 }
    calls.push(call)
    changed()
    try {
      const act = row ? prepare(operation, service, row, request) : plain[operation]?.(request)
      if (act === undefined)
        throw refusal(service, { code: 404, message: 'Method not found.', isWrong: true })
      const fault = faults.get(operation)?.shift() ?? faults.get('*')?.shift()
      const given = await meet(fault, operation, act)
      if (typeof given === 'object') call.status = given.status ?? 200
      return given
    } catch (error) {
      const isRefusal = error instanceof Refusal
      if (!isRefusal || error.isWrong)
        mistakes.push(`${operation} ${request.method} ${request.path}: ${error}`)
      const refused: FakeServerAnswer = isRefusal ? error.answer : { status: 599, body: String(error) }
      call.status = refused.status ?? 0
      return refused
    } finally {
      changed()
    }
  }

  const server = await openFakeServer({ answer })
  const { url } = server

  /** Opens the page as a browser does. @throws Error if Google refuses to show it */
  async function addressAfter(page: string, given: Answer): Promise<string> {
    const response = await fetch(page, { redirect: 'manual' })
    if (!response.ok) throw new Error(`Google shows no page for consent: ${await response.text()}`)
    return oauth.answerPage(new URL(page).searchParams, given, account)
  }

  const deliverMany = (count: number, mail: (index: number) => NewMail = () => ({})): readonly string[] =>
    Array.from({ length: count }, (_, index) => mailbox.deliver(mail(index)))

  return {
    /** The value of `hooks.gmail.baseUrls`. All addresses lead to one server on loopback. */
    baseUrls: {
      accounts: `${url}/accounts`,
      oauth: `${url}/oauth`,
      gmail: `${url}/gmail`,
      pubsub: `${url}/pubsub`,
    },
    /** Google's keys for push tokens, as `https://www.googleapis.com/oauth2/v3/certs` answers them. */
    certsUrl: `${url}/certs/oauth2/v3/certs`,
    /** https://developers.google.com/identity/protocols/oauth2/native-app#creatingcred */
    clientFile: {
      installed: {
        client_id: client.id,
        project_id: project,
        auth_uri: 'https://accounts.google.com/o/oauth2/auth',
        token_uri: 'https://oauth2.googleapis.com/token',
        client_secret: client.secret,
        redirect_uris: ['http://localhost'],
      },
    },
    project,
    account,
    /** Makes a consent without asking a person, and returns its credentials as they are stored under `credentials`. */
    credentials: (): object => oauth.credentials(account),
    /** Makes topic, subscription and role as setup would, and returns their names. */
    prepare({ push }: { push?: { endpoint: string; serviceAccount: string } } = {}) {
      const topic = `projects/${project}/topics/reveille-gmail`
      const subscription = `projects/${project}/subscriptions/reveille-gmail`
      const oidcToken = push && { serviceAccountEmail: push.serviceAccount }
      pubsub.prepare(topic, subscription, push && { pushEndpoint: push.endpoint, oidcToken })
      return { topic, subscription }
    },

    /** Follows the page as the person's browser would, through to the redirect. */
    consent: async (page: string, given: Answer = 'allow') => fetch(await addressAfter(page, given)),
    /** Does the same, but stops before the redirect, whose address a person would paste. */
    consentByHand: (page: string) => addressAfter(page, 'allow'),
    /** Withdraws the consent, as in the settings of the Google account: every token is void. */
    revoke: oauth.revoke,
    /** Makes the current access tokens void. Refresh tokens stay good. */
    expireAccessTokens: oauth.expireAccessTokens,

    /** Delivers a new mail and returns its id. Gmail notifies the topic of a watch that covers one of its labels. */
    deliver: (mail: NewMail = {}) => mailbox.deliver(mail),
    deliverMany,
    remove: mailbox.remove,
    /** Forgets the history up to now: it gets 404. */
    expireHistory: mailbox.expireHistory,
    /** Makes a label of the person's own, and returns its id. */
    addLabel: mailbox.addLabel,
    /** Notifies once more, as Pub/Sub may. */
    notifyAgain: () => gmail.announce(),
    /** Never publishes the next notifications, this many, as Gmail says may happen. */
    loseNotifications(count: number): void {
      lost += count
    },
    /** The current watch, if there is one. */
    get watch() {
      return gmail.watch()
    },
    /** The number of notifications that were not acknowledged. */
    get unacknowledged() {
      return pubsub.unacknowledged()
    },
    /** The roles of the topics: `roles/pubsub.publisher` -> members. */
    get roles() {
      return pubsub.roles()
    },
    /** The existing topics and subscriptions. */
    get resources() {
      return pubsub.names()
    },
    /** Gives Gmail the role of publisher on the topics, or takes it away, as another administrator would. */
    setRole: pubsub.setRole,
    pushes: pubsub.pushes.ended,
    /** Sends pushes for the origin `from` (`https://hooks.example.com`) to `to`, on loopback. */
    tunnel: (from: string, to: string) => void pubsub.pushes.tunnels.set(new URL(from).origin, to),

    /** Adds faults, one for each of the next calls of an operation, in order. `*` is every operation. */
    fail(operation: string, ...more: readonly Fault[]): void {
      faults.set(operation, [...(faults.get(operation) ?? []), ...more])
    },
    /** All calls, in order. */
    calls: calls as readonly Readonly<Call>[],
    callsOf: (operation: string) => calls.filter((call) => call.operation === operation),
    /** Calls that Google would have refused. A test asserts that the list is empty at its end. */
    mistakes: mistakes as readonly string[],
    /**
     * Resolves when the condition holds. It is checked when a call comes or ends, after each push and each move of the
     * clock. @throws Error after 20 s
     */
    until(isSo: () => boolean): Promise<void> {
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          changes.off('change', look)
          clearTimeout(timeout)
          settle()
        }
        const look = () => isSo() && end(resolve)
        const late = () => end(() => reject(new Error(`Google waited in vain until ${isSo}.`)))
        const timeout = setTimeout(late, timeoutMs)
        changes.on('change', look)
        look()
      })
    },
    /** The time of Google's clock. */
    now,
    /** Moves Google's clock, so that watches and ack deadlines end. */
    advance(ms: number): void {
      ahead += ms
      pubsub.wakeAll()
      changed()
    },
    async close(): Promise<void> {
      await pubsub.close()
      await server.close()
    },
  }
}

async function meet(
  fault: Fault | undefined,
  operation: string,
  act: () => Promise<FakeServerAnswer>,
): Promise<FakeServerAnswer | 'cut' | 'hang'> {
  if (fault === undefined) return act()
  if ('status' in fault) throw scriptedRefusal(operation, fault)
  if ('hang' in fault) return 'hang'
  if ('garbage' in fault) return { body: fault.garbage, headers: { 'content-type': 'application/json' } }
  if ('until' in fault) {
    await fault.until
    return act()
  }
  // A refusal would not be received either.
  if (fault.cut === 'after') await act().catch(() => undefined)
  return 'cut'
}

/** Endpoints that Google describes in words. */
const described: Readonly<Record<string, string>> = {
  'GET /accounts/o/oauth2/v2/auth': 'oauth.auth',
  'POST /oauth/token': 'oauth.token',
  'GET /certs/oauth2/v3/certs': 'oauth.certs',
}

function findOperation({ method, path }: FakeServerRequest) {
  const service: Service = path.startsWith('/pubsub/') ? 'pubsub' : 'gmail'
  const rest = path.slice(`/${service}`.length)
  const known = Object.entries(rows).find(
    ([id, each]) => id.startsWith(service) && each.method === method && each.path.test(rest),
  )
  const [operation, row] = known ?? [described[`${method} ${path}`] ?? 'unknown']
  return { operation, service, row }
}
