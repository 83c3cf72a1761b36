/** Decides who may use the admin surface: by the gateway token, by the cookie of a sign-in, and for the metrics by a token of their own. */

import { createSecretMatcher, type Right, type Settings } from '@reveille/engine'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../http/clients/client.ts'
import { createTries } from '../http/clients/throttle.ts'
import { onceForEach } from '../once-for-each.ts'
import {
  cookieName,
  cookieOf,
  cookieOptions,
  createCookie,
  isUnexpired,
  pageKeyOf,
  readCookie,
} from './cookie.ts'
import { refuse } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { refuseUnrouted } from './register.ts'
import type { accessRoutes } from './routes/access.ts'
import { routes } from './routes/index.ts'
import { createSignOuts } from './sign-outs.ts'

/** Returns the path under `/api`, as routes are declared. */
function pathIn({ url }: FastifyRequest): string {
  return (url.split('?', 1)[0] ?? '').slice('/api'.length)
}

/** The token or sign-in that admitted a request. */
interface Admission {
  readonly token: string
  /** The name of who has the token, and what they may do. */
  readonly name: string
  readonly may: Right
  /** The id of a sign-in. */
  readonly signIn?: string
  /** When it ends by itself. Milliseconds since the Unix epoch. */
  readonly until?: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The admission of the request. Null for a sign-in, and before authentication. */
    admission: Admission | null
  }
}

export type AdminAuth = ReturnType<typeof createAdminAuth>

type AuthOptions = Pick<AdminOptions, 'current' | 'store' | 'mintId' | 'now' | 'log' | 'issues'>

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])
const signInPath = '/api/session'
/** After this time a stream asks again whether its sign-in has ended at another node. Milliseconds. */
const recheckMs = 10_000

type Parts = ReturnType<typeof createParts>

function createParts({ current, store, mintId, now, log, issues }: AuthOptions) {
  const adminMatcher = onceForEach(({ gateway }: Settings) => createSecretMatcher(gateway.tokens))
  const metricsMatcher = onceForEach(({ gateway }: Settings) => createSecretMatcher(gateway.metricsTokens))
  const tries = createTries(performance.now.bind(performance), (client) => {
    log.error({ event: 'token-guessing', client })
    issues.tokenGuessed(client)
  })
  const signOuts = createSignOuts(store)
  const settingsOfNow = () => current().snapshot.settings
  const holderOf = (token: string, settings: Settings) => {
    const index = adminMatcher(settings)(token)
    return index === undefined ? undefined : settings.gateway.holders[index]
  }
  return {
    ...{ mintId, now, log, tries, signOuts, settingsOfNow, holderOf },
    /** The admission by a token in the headers, or by the cookie. @throws StoreError if it is not known whether the sign-in has ended */
    async admit(request: FastifyRequest, settings: Settings): Promise<Admission | undefined> {
      const token = givenToken(request)
      if (token !== undefined) {
        const holder = holderOf(token, settings)
        return holder && { token, ...holder }
      }
      const signedIn = readCookie(cookieOf(request), pageKeyOf(request), settings.gateway.tokens, now())
      if (signedIn === undefined || (await signOuts.has(signedIn.signIn))) return undefined
      const holder = holderOf(signedIn.token, settings)
      return holder && { ...signedIn, ...holder }
    },

    mayReadMetrics(request: FastifyRequest): boolean {
      const settings = settingsOfNow()
      const token = givenToken(request)
      if (token === undefined) return false
      return [adminMatcher, metricsMatcher].some((matcherOf) => matcherOf(settings)(token) !== undefined)
    },

    refuseUnauthenticated(
      request: FastifyRequest,
      reply: FastifyReply,
      isGuess: boolean,
      sentence: string,
    ): never {
      // A request without a token guesses nothing.
      const retryAfter = isGuess ? tries.wrong(clientOf(request)) : undefined
      if (retryAfter !== undefined) return refuse('TOO_MANY_TRIES', { retryAfter })
      reply.header('www-authenticate', 'Bearer')
      return refuse('UNAUTHORIZED', { sentence })
    },
  }
}

/**
 * The token comes as `Authorization: Bearer` or `x-gateway-token`, never in the address, which proxies log. It is checked before
 * anything else, so that an unauthenticated client cannot learn which addresses there are. A client that was wrong too often has to
 * wait, with the right token too: otherwise it could go on guessing, and see which guess is let in. A right token does not reset the
 * count, because that of the metrics would buy guesses at that of the gateway.
 */
export function createAdminAuth(options: AuthOptions) {
  const parts = createParts(options)
  return {
    ...createAuthentication(parts),
    admissionOf: createStreamAdmission(parts),
    handlers: createSignInHandlers(parts),
  }
}

function createAuthentication(parts: Parts) {
  const { mintId, now, tries, settingsOfNow, admit, mayReadMetrics, refuseUnauthenticated } = parts

  function begin(reply: FastifyReply): void {
    reply.header('x-request-id', mintId()).header('cache-control', 'no-store')
  }

  /** Refuses a client that was wrong too often, before its token is compared. */
  function refuseBlocked(request: FastifyRequest): void {
    const retryAfter = tries.blocked(clientOf(request))
    if (retryAfter !== undefined) refuse('TOO_MANY_TRIES', { retryAfter })
  }

  return {
    /** Lets a request to the API pass, or refuses it. */
    async authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      begin(reply)
      const settings = settingsOfNow()
      if (settings.gateway.tokens.length === 0) refuse('NOT_FOUND')
      refuseBlocked(request)
      // The body of a sign-in has the token.
      if (request.method === 'POST' && request.routeOptions.url === signInPath) return refuseForeign(request)
      const admission = await admit(request, settings)
      if (admission === undefined) {
        // A browser sends the cookie for pages of other ports too, which can send no key with it, and so guess nothing.
        const isGuess =
          givenToken(request) !== undefined ||
          (pageKeyOf(request) !== undefined && isUnexpired(cookieOf(request), now()))
        return refuseUnauthenticated(request, reply, isGuess, 'The admin surface wants the gateway token.')
      }
      if (admission.until !== undefined && !safeMethods.has(request.method)) refuseForeign(request)
      request.admission = admission
      // It is refused here, because Fastify would read the body on the way to a handler.
      refuseUnrouted(request, reply, routes, pathIn(request))
    },

    /** Lets a request to the metrics pass, or refuses it. */
    async authenticateMetrics(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      begin(reply)
      const { gateway } = settingsOfNow()
      if (gateway.tokens.length + gateway.metricsTokens.length === 0) refuse('NOT_FOUND')
      refuseBlocked(request)
      const sentence = 'The metrics want the gateway token, or that of `gateway.metrics`.'
      const isGuess = givenToken(request) !== undefined
      if (!mayReadMetrics(request)) refuseUnauthenticated(request, reply, isGuess, sentence)
    },

    /**
     * True if a probe may see details. A wrong token counts as a try, and the probe is answered without them. Returns the seconds to wait
     * for a client that has tried too many; a probe without a token never has to wait.
     */
    isKnownProbe(request: FastifyRequest): boolean | number {
      if (givenToken(request) === undefined) return false
      const client = clientOf(request)
      const retryAfter = tries.blocked(client)
      if (retryAfter !== undefined) return retryAfter
      if (mayReadMetrics(request)) return true
      return tries.wrong(client) ?? false
    },
  }
}

/** Returns, for what let a request in, a function that says whether it would still do so. */
function createStreamAdmission({ now, signOuts, holderOf, settingsOfNow }: Parts) {
  return ({ admission }: FastifyRequest): (() => boolean) => {
    const { token, signIn, until = Number.POSITIVE_INFINITY } = admission ?? {}
    let checkedAt = now()
    return () => {
      if (token === undefined || until <= now()) return false
      if (signIn !== undefined && now() - checkedAt >= recheckMs) {
        checkedAt = now()
        // A failed read is repeated later.
        signOuts.has(signIn).catch(() => undefined)
      }
      const isEnded = signIn !== undefined && signOuts.isKnown(signIn)
      return !isEnded && holderOf(token, settingsOfNow()) !== undefined
    }
  }
}

function createSignInHandlers(parts: Parts): Handlers<typeof accessRoutes> {
  const { now, signOuts, holderOf, settingsOfNow, refuseUnauthenticated } = parts
  return {
    async signIn({ body, request, reply }) {
      const holder = holderOf(body.token, settingsOfNow())
      if (holder === undefined)
        return refuseUnauthenticated(request, reply, true, 'This is no token of this gateway.')
      const { until, value, pageKey, maxAgeSeconds } = createCookie(body.token, now())
      reply.setCookie(cookieName, value, { ...cookieOptions(request), maxAge: maxAgeSeconds })
      return { ok: true, until, key: pageKey, ...holder }
    },
    async readSignIn({ request: { admission } }) {
      return admission === null ? refuse('UNAUTHORIZED') : { name: admission.name, may: admission.may }
    },
    async signOut({ request, reply }) {
      const { signIn, until } = request.admission ?? {}
      if (signIn !== undefined && until !== undefined) await signOuts.add(signIn, until)
      reply.clearCookie(cookieName, cookieOptions(request))
      return { ok: true }
    },
  }
}

function givenToken(request: FastifyRequest): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer) return bearer
  const header = request.headers['x-gateway-token']
  return typeof header === 'string' ? header : undefined
}

/**
 * Refuses a request of a page that is not of this gateway. A browser sends `Origin` with every request that changes something, and a page
 * cannot choose it. A proxy that is not trusted may take https for the gateway.
 */
function refuseForeign(request: FastifyRequest): void {
  const { origin } = request.headers
  const own = request.host
  if (origin === undefined) {
    if (cookieOf(request) !== undefined) refuse('CROSS_SITE', { sentence: 'The header Origin is missing.' })
  } else if (origin !== `${request.protocol}://${own}` && origin !== `https://${own}`)
    refuse('CROSS_SITE', {
      sentence: `The request comes from a page of ${shown(origin)}, and the address of this gateway is ${shown(own)}. A proxy has to pass on the header Host, or has to be in gateway.trustedProxies.`,
    })
}

/** Makes a sentence of what an unauthenticated client sends. */
function shown(text: string): string {
  return /^[\w.:/[\]-]{1,200}$/.test(text) ? text : 'another site'
}
