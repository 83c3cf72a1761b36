/** Assembles the fake Google. */

import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { openFakeServer } from '@reveille/kit/fake-server'
import { createGmail } from './gmail.ts'
import { createMailbox, type NewMail } from './mailbox.ts'
import { type Answer, createOAuth } from './oauth.ts'
import { createPubSub } from './pubsub.ts'
import type { Handler } from './requests.ts'
import { type Call, createServing } from './serve.ts'

export type { Call, Fault } from './serve.ts'

export interface FakeGoogleOptions {
  /** The time of its clock, until it is advanced. Without it, the clock runs. */
  readonly now?: number
  /** Real milliseconds that a pull waits for a message; Google waits for a minute and a half. Default: 1,000. */
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

  const google = createServing({ project, handlers, oauth, now, changed })
  const server = await openFakeServer({ answer: google.answer })
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
    pushes: pubsub.pushes.ended,
    /** Sends pushes for the origin `from` (`https://hooks.example.com`) to `to`, on loopback. */
    tunnel: (from: string, to: string) => void pubsub.pushes.tunnels.set(new URL(from).origin, to),

    /** Adds faults, one for each of the next calls of an operation, in order. `*` is every operation. */
    fail: google.fail,
    /** All calls, in order. */
    calls: google.calls as readonly Readonly<Call>[],
    callsOf: (operation: string) => google.calls.filter((call) => call.operation === operation),
    /** Calls that Google would have refused. A test asserts that the list is empty at its end. */
    mistakes: google.mistakes as readonly string[],
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
