/** Assembles the fake Google. */

import { randomBytes } from 'node:crypto'
import { createClock } from './clock.ts'
import { describeGoogle } from './description/operations.ts'
import type { FakeGoogle } from './google.ts'
import { createGmail, isWatched, type Watch } from './mail/gmail.ts'
import { createMailbox, type Mailbox } from './mail/mailbox.ts'
import { type Answer, answerConsent, type Page, readConsentRequest } from './oauth/consent-page.ts'
import { createGrants } from './oauth/grants.ts'
import { answerRevoke, answerToken, checkTokenForm } from './oauth/token.ts'
import { createPubSub } from './pubsub/pubsub.ts'
import { publicKeys } from './pubsub/push.ts'
import { createPushing } from './pubsub/pushing.ts'
import { createSubscriptions } from './pubsub/subscriptions.ts'
import { createTopics } from './pubsub/topics.ts'
import { openServer } from './server/server.ts'

export type { Call, FakeGoogle, Fault, NewMail } from './google.ts'

export interface FakeGoogleOptions {
  /** The time at which its clock stands until it is advanced. Without it, the clock runs. */
  readonly now?: number
  /**
   * How long a pull waits for a message, in real milliseconds. Google waits for a minute and a half. Default: 1,000.
   */
  readonly pullWait?: number
}

/** A test that waits longer fails. Milliseconds. */
const timeoutMs = 20_000
/** https://developers.google.com/workspace/gmail/api/guides/push#grant_publish_rights_on_your_topic */
const publisher = 'serviceAccount:gmail-api-push@system.gserviceaccount.com'
const publisherRole = 'roles/pubsub.publisher'
/** Roles with the permission `pubsub.topics.publish`: https://cloud.google.com/pubsub/docs/access-control#roles */
const publishing = [publisherRole, 'roles/pubsub.editor', 'roles/pubsub.admin', 'roles/editor', 'roles/owner']
const basicScopes = [
  ...['openid', 'email', 'profile'],
  'https://www.googleapis.com/auth/userinfo.email',
  'https://www.googleapis.com/auth/userinfo.profile',
]
const usualScopes = [
  'https://www.googleapis.com/auth/gmail.readonly',
  'https://www.googleapis.com/auth/pubsub',
]

export async function createFakeGoogle(options: FakeGoogleOptions = {}): Promise<FakeGoogle> {
  const { now, pullWait = 1_000 } = options
  const clock = createClock(now)
  const project = 'harbour-lights-4711'
  const account = 'ada@example.com'
  const client = {
    id: '471100000000-standin.apps.googleusercontent.com',
    secret: `GOCSPX-${randomBytes(21).toString('base64url')}`,
    project,
  }
  const grants = createGrants(clock)
  const topics = createTopics()
  const knownScopes = new Set([
    ...basicScopes,
    ...describeGoogle().operations.flatMap(({ scopes }) => scopes),
  ])

  const tunnels = new Map<string, string>()
  const listeners = new Set<() => void>()
  let lost = 0

  function changed(): void {
    for (const listener of [...listeners]) listener()
  }

  const pushing = createPushing({ clock, tunnels, onEnd: changed })
  const subscriptions = createSubscriptions({ clock, topics, pullWait, onPush: pushing.begin })

  const mailboxes = new Map<string, Mailbox>()
  const watches = new Map<string, Watch>()

  function mailboxOf(owner: string): Mailbox {
    const key = owner.toLowerCase()
    const known = mailboxes.get(key)
    if (known !== undefined) return known
    const made = createMailbox({
      account: owner,
      clock,
      onChange(record) {
        const watch = watches.get(owner)
        if (watch === undefined || watch.endsAt <= clock.now() || !isWatched(watch, record)) return
        if (lost > 0) lost -= 1
        else notify(owner)
      },
    })
    mailboxes.set(key, made)
    return made
  }

  function whyNotPublish(topic: string): 'NOT_FOUND' | 'PERMISSION_DENIED' | undefined {
    if (!topics.has(topic)) return 'NOT_FOUND'
    return topics.allows(topic, publisher, ...publishing) ? undefined : 'PERMISSION_DENIED'
  }

  function notify(owner: string): void {
    const watch = watches.get(owner)
    if (watch === undefined || whyNotPublish(watch.topic) !== undefined) return
    const { historyId } = mailboxOf(owner)
    const data = Buffer.from(JSON.stringify({ emailAddress: owner, historyId })).toString('base64')
    subscriptions.publish(watch.topic, data)
  }

  const consentOptions = { client, grants, knownScopes }
  const tokenOptions = { client, grants, now: clock.now }
  const noStore = { 'cache-control': 'no-store' }

  const server = await openServer({
    handlers: {
      ...createGmail({ clock, project, mailboxOf, watches, whyNotPublish, notify }),
      ...createPubSub({
        topics,
        subscriptions,
        owns: (owner, asked) => owner === account && asked === project,
      }),
    },
    plain: {
      'oauth.auth': (query) => {
        const page = readConsentRequest(query, consentOptions)
        return { act: () => ({ status: 200, body: htmlOf(page) }) }
      },
      'oauth.token': (_, body) => {
        const form = new URLSearchParams(body)
        checkTokenForm(form, tokenOptions)
        return { act: () => ({ status: 200, body: answerToken(form, tokenOptions), headers: noStore }) }
      },
      'oauth.revoke': (query, body) => {
        const form = new URLSearchParams([...query, ...new URLSearchParams(body)])
        return { act: () => ({ status: 200, body: answerRevoke(form, tokenOptions) }) }
      },
      'oauth.certs': () => ({
        act: async () => ({
          status: 200,
          body: await publicKeys(),
          headers: { 'cache-control': 'public, max-age=20000, must-revalidate, no-transform' },
        }),
      }),
    },
    grants,
    project,
    now: clock.now,
    onCall: changed,
  })

  /** Opens the page as a browser does, and then follows the person's answer. */
  async function openPage(url: string): Promise<{ page: Page } | { refused: Response }> {
    const response = await fetch(url, { redirect: 'manual' })
    if (!response.ok) return { refused: response }
    await response.body?.cancel()
    return { page: readConsentRequest(new URL(url).searchParams, consentOptions) }
  }

  async function consent(url: string, answer: Answer = 'allow'): Promise<Response> {
    const opened = await openPage(url)
    if ('refused' in opened) return opened.refused
    return fetch(answerConsent(opened.page, answer, account, consentOptions))
  }

  const mine = mailboxOf(account)

  return {
    baseUrls: {
      accounts: `${server.url}/accounts`,
      oauth: `${server.url}/oauth`,
      gmail: `${server.url}/gmail`,
      pubsub: `${server.url}/pubsub`,
    },
    certsUrl: `${server.url}/certs/oauth2/v3/certs`,
    // https://developers.google.com/identity/protocols/oauth2/native-app#creatingcred
    clientFile: {
      installed: {
        client_id: client.id,
        project_id: project,
        auth_uri: 'https://accounts.google.com/o/oauth2/auth',
        token_uri: 'https://oauth2.googleapis.com/token',
        auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
        client_secret: client.secret,
        redirect_uris: ['http://localhost'],
      },
    },
    project,
    account,

    credentials() {
      const { grant } = grants.consent(account, usualScopes, false)
      return {
        account,
        clientId: client.id,
        clientSecret: client.secret,
        refreshToken: grants.issueRefreshToken(grant).text,
        scopes: usualScopes,
      }
    },

    prepare({ push: asked } = {}) {
      const topic = `projects/${project}/topics/reveille-gmail`
      const subscription = `projects/${project}/subscriptions/reveille-gmail`
      if (!topics.has(topic)) topics.create(topic, {})
      topics.grant(topic, publisherRole, publisher)
      const oidcToken = asked && { serviceAccountEmail: asked.serviceAccount, audience: asked.audience }
      const pushConfig = asked && { pushEndpoint: asked.endpoint, oidcToken }
      if (!subscriptions.names().includes(subscription)) {
        subscriptions.create(subscription, { topic, ackDeadlineSeconds: 60 })
      }
      if (pushConfig !== undefined) subscriptions.changePush(subscription, pushConfig)
      return { topic, subscription }
    },

    consent,

    async consentByHand(url) {
      const opened = await openPage(url)
      if ('page' in opened) return answerConsent(opened.page, 'allow', account, consentOptions)
      throw new Error(`Google shows no page for consent: ${await opened.refused.text()}`)
    },

    revoke: grants.revokeAll,
    expireAccessTokens: grants.expireAccessTokens,

    deliver: (mail = {}) => mine.deliver(mail),
    deliverMany: (count, mail = () => ({})) =>
      Array.from({ length: count }, (_, index) => mine.deliver(mail(index))),
    remove: mine.remove,
    relabel: mine.relabel,
    expireHistory: mine.expireHistory,
    notifyAgain: () => notify(account),
    addLabel: mine.addLabel,
    loseNotifications(count) {
      lost += count
    },

    get watch() {
      const watch = watches.get(account)
      if (watch === undefined || watch.endsAt <= clock.now()) return undefined
      const { topic, labelIds, endsAt } = watch
      return { topic, labelIds, endsAt }
    },
    get unacknowledged() {
      return subscriptions.all().reduce((sum, { deliveries }) => sum + deliveries.length, 0)
    },
    get roles() {
      const found: Record<string, string[]> = {}
      for (const { role, members } of topics.names().flatMap((name) => topics.known(name).bindings)) {
        found[role] = [...new Set([...(found[role] ?? []), ...members])]
      }
      return found
    },
    get resources() {
      return [...topics.names(), ...subscriptions.names()]
    },
    setRole({ role = publisherRole, member = publisher, isGranted }) {
      for (const name of topics.names()) {
        if (isGranted) topics.grant(name, role, member)
        else topics.withdraw(name, role, member)
      }
    },
    pushes: pushing.pushes,
    tunnel(from, to) {
      tunnels.set(new URL(from).origin, to)
    },

    fail: (operation, ...faults) => server.fail(operation, faults),
    calls: server.calls,
    callsOf: (operation) => server.calls.filter((call) => call.operation === operation),
    mistakes: server.mistakes,
    until(isSo) {
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          listeners.delete(look)
          clearTimeout(timeout)
          settle()
        }
        const look = () => {
          try {
            if (isSo()) end(resolve)
          } catch (error) {
            end(() => reject(error))
          }
        }
        const timeout = setTimeout(
          () => end(() => reject(new Error(`Google waited ${timeoutMs / 1000} s in vain until ${isSo}.`))),
          timeoutMs,
        )
        listeners.add(look)
        look()
      })
    },

    now: clock.now,
    advance(ms) {
      clock.advance(ms)
      subscriptions.wakeAll()
      changed()
    },

    async close() {
      const pushed = pushing.close()
      subscriptions.close()
      await server.close()
      await pushed
    },
  }
}

/** Returns the text that a person would read. */
function htmlOf({ scopes }: Page): string {
  return `<!doctype html><title>Sign in</title><p>Reveille wants access to your account</p><ul>${scopes.map((scope) => `<li>${scope}</li>`).join('')}</ul>`
}
