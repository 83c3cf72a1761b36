/** Serves each call from its request to its answer, and records it. */

import type { FakeServerAnswer, FakeServerRequest } from '@reveille/kit/fake-server'
import type { createOAuth } from './oauth.ts'
import { badArgument, missingScope, Refusal, refusal, type Scripted, scriptedRefusal } from './refusal.ts'
import { type Handler, mailScopes, mistakesIn, type Row, readQuery, rows } from './requests.ts'

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
  /** `gmail.users.history.list`, `oauth.token`, `oauth.auth`. */
  readonly operation: string
  readonly body: unknown
  /** The status of the answer, or 0 if the call was cut. */
  status: number
}

export interface ServingOptions {
  readonly handlers: Readonly<Record<string, Handler>>
  readonly oauth: ReturnType<typeof createOAuth>
  now(): number
  /** Called when a call has come, and when it is over. */
  changed(): void
}

export function createServing({ handlers, oauth, now, changed }: ServingOptions) {
  const calls: Call[] = []
  const mistakes: string[] = []
  const faults = new Map<string, Fault[]>()

  /** Returns the account of the caller. @throws Refusal */
  function authenticate(authorization = ''): string {
    const [, text = ''] = /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization) ?? []
    const token = oauth.accessToken(text)
    if (token === undefined || token.grant.isRevoked || token.endsAt <= now()) {
      // A token that was good before is not the caller's mistake.
      throw refusal({ code: 401, isWrong: token === undefined })
    }
    // A person may leave scopes out, which is not the caller's mistake.
    if (!mailScopes.some((scope) => token.grant.scopes.includes(scope)))
      throw missingScope(!token.grant.isPartial)
    return token.grant.account
  }

  /** Checks everything about a call of Gmail that does not depend on state. @throws Refusal */
  function prepare(operation: string, row: Row, request: FakeServerRequest) {
    const account = authenticate(request.headers['authorization'])
    if (request.text !== '') throw badArgument('No body belongs here.')
    const query = readQuery(row, request.query)
    const wrong = mistakesIn(row, query)
    if (wrong.length > 0) throw badArgument(wrong.join('\n'))
    const path = row.path.exec(request.path)?.slice(1) ?? []
    if (path[0] !== 'me' && path[0] !== account)
      throw refusal({ code: 403, message: `Delegation denied for ${account}`, isWrong: true })
    return async (): Promise<FakeServerAnswer> => ({ body: handlers[operation]?.({ path, query, account }) })
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
  }

  async function answer(request: FakeServerRequest): Promise<FakeServerAnswer | 'cut' | 'hang'> {
    const { operation, row } = findOperation(request)
    const form = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
    const body = form ? Object.fromEntries(new URLSearchParams(request.text)) : request.json
    const call: Call = { operation, body, status: 0 }
    calls.push(call)
    changed()
    try {
      const act = row ? prepare(operation, row, request) : plain[operation]?.(request)
      if (act === undefined) throw refusal({ code: 404, message: 'Method not found.', isWrong: true })
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

  return {
    calls,
    mistakes,
    answer,
    fail(operation: string, ...more: readonly Fault[]): void {
      faults.set(operation, [...(faults.get(operation) ?? []), ...more])
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
}

function findOperation({ method, path }: FakeServerRequest) {
  const known = Object.entries(rows).find(([, each]) => method === 'GET' && each.path.test(path))
  const [operation, row] = known ?? [described[`${method} ${path}`] ?? 'unknown']
  return { operation, row }
}
