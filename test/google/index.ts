/** Assembles the fake Google. */

import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { openFakeServer } from '@reveille/kit/fake-server'
import { createGmail } from './gmail.ts'
import { createMailbox, type NewMail } from './mailbox.ts'
import { type Answer, createOAuth } from './oauth.ts'
import { type Call, createServing } from './serve.ts'

export type { Call, Fault } from './serve.ts'

export interface FakeGoogleOptions {
  /** The time of its clock, until it is advanced. Without it, the clock runs. */
  readonly now?: number
}

export type FakeGoogle = Awaited<ReturnType<typeof createFakeGoogle>>

const project = 'harbour-lights-4711'
const account = 'ada@example.com'
/** A test that waits longer fails. Milliseconds. */
const timeoutMs = 20_000

export async function createFakeGoogle({ now: start }: FakeGoogleOptions = {}) {
  let ahead = 0
  const now = () => (start ?? Date.now()) + ahead
  const changes = new EventEmitter().setMaxListeners(0)
  const changed = () => void changes.emit('change')
  const client = {
    id: '471100000000-standin.apps.googleusercontent.com',
    secret: `GOCSPX-${randomBytes(21).toString('base64url')}`,
  }
  const oauth = createOAuth(client, now)
  const mailbox = createMailbox(account, now)
  const google = createServing({ handlers: createGmail(mailbox), oauth, now, changed })
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
    },
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
    /** Follows the page as the person's browser would, through to the redirect. */
    consent: async (page: string, given: Answer = 'allow') => fetch(await addressAfter(page, given)),
    /** Does the same, but stops before the redirect, whose address a person would paste. */
    consentByHand: (page: string) => addressAfter(page, 'allow'),
    /** Withdraws the consent, as in the settings of the Google account: every token is void. */
    revoke: oauth.revoke,
    /** Makes the current access tokens void. Refresh tokens stay good. */
    expireAccessTokens: oauth.expireAccessTokens,

    /** Delivers a new mail and returns its id. */
    deliver: (mail: NewMail = {}) => mailbox.deliver(mail),
    deliverMany,
    remove: mailbox.remove,
    /** Forgets the history up to now: it gets 404. */
    expireHistory: mailbox.expireHistory,
    /** Makes a label of the person's own, and returns its id. */
    addLabel: mailbox.addLabel,
    /** Adds faults, one for each of the next calls of an operation, in order. `*` is every operation. */
    fail: google.fail,
    /** All calls, in order. */
    calls: google.calls as readonly Readonly<Call>[],
    callsOf: (operation: string) => google.calls.filter((call) => call.operation === operation),
    /** Calls that Google would have refused. A test asserts that the list is empty at its end. */
    mistakes: google.mistakes as readonly string[],
    /**
     * Resolves when the condition holds. It is checked when a call comes or ends, and after each move of the
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
    /** Moves Google's clock, so that tokens end. */
    advance(ms: number): void {
      ahead += ms
      changed()
    },
    close: server.close,
  }
}
