/** Decides who may use the admin surface: by the gateway token, by the cookie of a sign-in, and for the metrics by a token of their own. */

import { createSecretMatcher, type Right, rights, type Settings } from '@reveille/engine'
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
import { sendRefusal } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { type RouteGuard, refuseUnrouted } from './register.ts'
import type { accessRoutes } from './routes/access.ts'
import { routes } from './routes/index.ts'
import { createSignOuts } from './sign-outs.ts'

/** Returns the path under `/api`, as routes are declared. */
function pathIn({ url }: FastifyRequest): string {
  return (url.split('?', 1)[0] ?? '').slice('/api'.length)
}

/** The token or sign-in that admitted a request. */
export interface Admission {
  readonly token: string
  /** The name of who has the token, and what they may do. */
  readonly name: string
  readonly may: Right
  /** The id of a sign-in. */
  readonly signIn?: string
  /** When it ends by itself. Milliseconds since the Unix epoch. */
  readonly until?: number
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
    admissions: new WeakMap<FastifyRequest, Admission>(),

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
    ): FastifyReply {
      // A request without a token guesses nothing.
      const retryAfter = isGuess ? tries.wrong(clientOf(request)) : undefined
      if (retryAfter !== undefined) return sendRefusal(reply, 'TOO_MANY_TRIES', { retryAfter })
      reply.header('www-authenticate', 'Bearer')
      return sendRefusal(reply, 'UNAUTHORIZED', { sentence })
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
    ...createStreamAdmission(parts),
    guard: createGuard(parts),
    handlers: createSignInHandlers(parts),
  }
}

function createAuthentication(parts: Parts) {
  const { mintId, now, tries, admissions, settingsOfNow, admit, mayReadMetrics, refuseUnauthenticated } =
    parts

  function begin(reply: FastifyReply): void {
    reply.header('x-request-id', mintId()).header('cache-control', 'no-store')
  }

  /** Refuses a client that was wrong too often, before its token is compared. */
  function refuseBlocked(request: FastifyRequest, reply: FastifyReply) {
    const retryAfter = tries.blocked(clientOf(request))
    return retryAfter === undefined ? undefined : sendRefusal(reply, 'TOO_MANY_TRIES', { retryAfter })
  }

  return {
    /** Lets a request to the API pass, or refuses it. */
    async authenticate(request: FastifyRequest, reply: FastifyReply) {
      begin(reply)
      const settings = settingsOfNow()
      if (settings.gateway.tokens.length === 0) return sendRefusal(reply, 'NOT_FOUND')
      if (refuseBlocked(request, reply)) return reply
      // The body of a sign-in has the token.
      if (request.method === 'POST' && request.routeOptions.url === signInPath) {
        const foreign = foreignOrigin(request)
        return foreign === undefined ? undefined : refuseForeign(reply, foreign)
      }
      const admission = await admit(request, settings)
      if (admission === undefined) {
        // A browser sends the cookie for pages of other ports too, which can send no key with it, and so guess nothing.
        const isGuess =
          givenToken(request) !== undefined ||
          (pageKeyOf(request) !== undefined && isUnexpired(cookieOf(request), now()))
        return refuseUnauthenticated(request, reply, isGuess, 'The admin surface wants the gateway token.')
      }
      if (admission.until !== undefined && !safeMethods.has(request.method)) {
        const foreign = foreignOrigin(request)
        if (foreign !== undefined) return refuseForeign(reply, foreign)
      }
      admissions.set(request, admission)
      // It is refused here, because Fastify would read the body on the way to a handler.
      return refuseUnrouted(request, reply, routes, pathIn(request))
    },

    /** Lets a request to the metrics pass, or refuses it. */
    async authenticateMetrics(request: FastifyRequest, reply: FastifyReply) {
      begin(reply)
      const { gateway } = settingsOfNow()
      if (gateway.tokens.length + gateway.metricsTokens.length === 0) return sendRefusal(reply, 'NOT_FOUND')
      if (refuseBlocked(request, reply)) return reply
      const sentence = 'The metrics want the gateway token, or that of `gateway.metrics`.'
      const isGuess = givenToken(request) !== undefined
      if (!mayReadMetrics(request)) return refuseUnauthenticated(request, reply, isGuess, sentence)
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

function createStreamAdmission({ admissions, now, signOuts, holderOf, settingsOfNow }: Parts) {
  return {
    /** Who holds a stream: a sign-in, or a token. */
    streamHolderOf(request: FastifyRequest): string {
      const admission = admissions.get(request)
      return admission?.signIn ?? admission?.name ?? ''
    },

    /** Returns a function that says whether what let a request in would still do so. */
    admissionOf(request: FastifyRequest): () => boolean {
      const { token, signIn, until } = admissions.get(request) ?? {}
      let checkedAt = now()
      return () => {
        if (token === undefined || (until ?? Number.POSITIVE_INFINITY) <= now()) return false
        if (signIn !== undefined && now() - checkedAt >= recheckMs) {
          checkedAt = now()
          // A failed read is repeated later.
          signOuts.has(signIn).catch(() => undefined)
        }
        const isEnded = signIn !== undefined && signOuts.isKnown(signIn)
        return !isEnded && holderOf(token, settingsOfNow()) !== undefined
      }
    },
  }
}

function createGuard({ admissions, log }: Parts): RouteGuard {
  return {
    nameOf: (request) => admissions.get(request)?.name ?? '',
    refuseUnlessAllowed(request, reply, needed) {
      const admission = admissions.get(request)
      // A sign-in has none yet.
      if (admission === undefined || isEnough(admission.may, needed)) return undefined
      const sentence = `This needs a token that may ${needed}, and "${admission.name}" may only ${admission.may}.`
      return sendRefusal(reply, 'RIGHT_MISSING', { sentence })
    },
    noteAction(request, reply, name) {
      const admission = admissions.get(request)
      if (admission === undefined) return
      const { statusCode: status } = reply
      const requestId = reply.getHeader('x-request-id')
      const params = request.params as object
      log.info({ event: 'admin-action', action: name, ...params, status, requestId, by: admission.name })
    },
  }
}

function createSignInHandlers(parts: Parts): Handlers<typeof accessRoutes> {
  const { admissions, now, signOuts, holderOf, settingsOfNow, refuseUnauthenticated } = parts
  return {
    async signIn({ body, request, reply }) {
      const holder = holderOf(body.token, settingsOfNow())
      if (holder === undefined)
        return refuseUnauthenticated(request, reply, true, 'This is no token of this gateway.')
      const { until, value, pageKey, maxAgeSeconds } = createCookie(body.token, now())
      reply.setCookie(cookieName, value, { ...cookieOptions(request), maxAge: maxAgeSeconds })
      return { ok: true, until, key: pageKey, ...holder }
    },
    async readSignIn({ request, reply }) {
      const admission = admissions.get(request)
      if (admission === undefined) return sendRefusal(reply, 'UNAUTHORIZED')
      return { name: admission.name, may: admission.may }
    },
    async signOut({ request, reply }) {
      const { signIn, until } = admissions.get(request) ?? {}
      if (signIn !== undefined && until !== undefined) await signOuts.add(signIn, until)
      reply.clearCookie(cookieName, cookieOptions(request))
      return { ok: true }
    },
  }
}

/** A right holds all that are listed before it. */
function isEnough(may: Right, needed: Right): boolean {
  return rights.indexOf(may) >= rights.indexOf(needed)
}

function givenToken(request: FastifyRequest): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer) return bearer
  const header = request.headers['x-gateway-token']
  return typeof header === 'string' ? header : undefined
}

/**
 * Says why the page that sent a request is not of this gateway, or returns undefined. A browser sends `Origin` with every request that
 * changes something, and a page cannot choose it. A proxy that is not trusted may take https for the gateway.
 */
function foreignOrigin(request: FastifyRequest): string | undefined {
  const { origin } = request.headers
  if (origin === undefined)
    return cookieOf(request) === undefined ? undefined : 'The header Origin is missing.'
  const own = request.host
  const isOwn = origin === `${request.protocol}://${own}` || origin === `https://${own}`
  if (isOwn) return undefined
  return `The request comes from a page of ${shown(origin)}, and the address of this gateway is ${shown(own)}. A proxy has to pass on the header Host, or has to be in gateway.trustedProxies.`
}

/** Makes a sentence of what an unauthenticated client sends. */
function shown(text: string): string {
  return /^[\w.:/[\]-]{1,200}$/.test(text) ? text : 'another site'
}

function refuseForeign(reply: FastifyReply, sentence: string): FastifyReply {
  return sendRefusal(reply, 'CROSS_SITE', { sentence })
}
