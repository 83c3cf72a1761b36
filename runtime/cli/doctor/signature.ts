/** `reveille doctor signature`: says whether a request would be accepted as one of its sender, and if not, what differs. */

import { existsSync } from 'node:fs'
import path from 'node:path'
import {
  comparedOf,
  type Diagnosis,
  diagnose,
  holdsUnset,
  parseFields,
  realTimers,
  type Snapshot,
  UnavailableError,
  type VerifyDependencies,
  writePath,
} from '@reveille/engine'
import {
  authenticate,
  createEndpointAuthTables,
  type EndpointAuth,
  isWrongTry,
  payloadIn,
  presentedToken,
  sentenceOf,
} from '../../http/index.ts'
import { printable } from '../../observe/printable.ts'
import { createDownloads } from '../../trust/index.ts'
import { withSnapshot } from '../authoring/compile.ts'
import { describeEndpoints, endpointIn } from '../authoring/try/request.ts'
import { badUsage, failure } from '../command-failure.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { formatSummary, print } from '../print.ts'
import { momentOf } from '../records/filters.ts'
import { type FiledRequest, readRequestFile } from '../request-file.ts'
import { signsNothing } from './checks/configuration.ts'

type SignatureOptions = CommandOptions & Required<Pick<CommandOptions, 'endpoint' | 'request'>>

/** Resolves with the exit code: 0 where the request would be accepted, else 1. @throws CommandFailure */
export async function doctorSignature(io: Io, given: SignatureOptions): Promise<number> {
  const now = given.now === undefined ? io.now() : momentOf('--now', given.now, io.now())
  // Other commands take the id of a request, which may be given here by mistake.
  const isId = /^[0-9a-f-]{4,36}$/i.test(given.request) && !existsSync(path.resolve(io.cwd, given.request))
  if (isId) throw badUsage(idIsNotEnough)
  const request = { ...(await readRequestFile(given.request, io)), now }
  return withSnapshot(io, async (snapshot) => {
    const endpoint = endpointIn(given.endpoint, snapshot.settings.hooks.path)
    const endpointAuth = createEndpointAuthTables()(snapshot).authFor(endpoint)
    const { verify } = snapshot.policyOf(endpoint) ?? {}
    const isTokenAsked = endpointAuth.auth === 'token' || endpointAuth.auth === 'both'
    if ([verify, isTokenAsked && snapshot.settings.hooks.tokens].some(holdsUnset))
      throw failure(`Not checked: what /${endpoint} is verified with is not set.`)
    if (!snapshot.covers(endpoint)) return reportUnknown(endpoint, snapshot, io)
    const closing = new AbortController()
    const web = { fetch: io.fetch, timers: realTimers, signal: closing.signal }
    const dependencies = given.offline ? offline : createDownloads({ web, now: io.now })
    const explain = () => diagnose(request, verify ?? {}, othersThan(endpoint, snapshot), dependencies)
    const judged = await verifyRequest(request, endpointAuth, snapshot, explain).finally(() =>
      closing.abort(),
    )
    const { provider } = verify ?? {}
    const result = {
      ...(provider !== undefined && { provider }),
      ...judged,
      compared: comparedOf(request, verify),
    }
    print(io, { ok: judged.taken, endpoint, results: [result] }, () =>
      formatResult(result, endpoint, given.now !== undefined, io),
    )
    if (!snapshot.settings.hooks.enabled)
      io.err('`hooks.enabled` is false: the gateway would answer 404 to everyone.\n')
    return judged.taken ? 0 : 1
  })
}

const idIsNotEnough =
  'An id is not enough: the gateway does not store the bodies of requests that it refuses. Save what was sent as an HTTP message, and name that file.'

const offline: VerifyDependencies = {
  download: () => Promise.reject(new UnavailableError('Nothing is fetched with --offline.')),
}

/** Returns the other configured secrets, which the sender may have been given in place of the right one. */
function othersThan(endpoint: string, { endpoints, settings }: Snapshot) {
  const others = Object.entries(endpoints)
    .filter(([name]) => name !== endpoint)
    .map(([name, { verify = {} }]) => ({ place: writePath(['endpoints', name, 'verify']), verify }))
  return [...others, { place: 'hooks.token', verify: { secret: settings.hooks.tokens } }]
}

/** Takes the steps of the request pipeline that authenticate a sender, in their order. */
async function verifyRequest(
  { method, headers, target, rawBody }: FiledRequest,
  asked: EndpointAuth,
  { settings }: Snapshot,
  explain: () => Promise<Diagnosis>,
): Promise<Diagnosis> {
  const { auth, verify } = asked
  const handshakes = verify?.value.handshakes
  const query = parseFields(target.split('?').slice(1).join('?'))
  const answerHandshake = (isTrusted: boolean): Diagnosis | undefined => {
    const payload = payloadIn('agent', Buffer.from(rawBody), headers['content-type'])
    const answer = handshakes?.answer({ method, headers, query, payload, isTrusted })
    if (answer === undefined) return undefined
    const { status, reason: message } = answer
    const taken = status < 400
    return { taken, code: taken ? 'HANDSHAKE' : 'HANDSHAKE_WRONG', message, status, findings: [] }
  }
  if (method !== 'POST') {
    const message = 'the method is not POST, and it is no handshake'
    const answer = handshakes?.methods?.includes(method) ? answerHandshake(false) : undefined
    return answer ?? { taken: false, code: 'METHOD_NOT_ALLOWED', message, findings: [] }
  }
  const owned = auth === 'both' ? verify?.value.tokenHeaders : undefined
  const presented = presentedToken(headers, query, settings.hooks.allowQueryToken, owned)
  const result = authenticate(asked, headers, presented, () => true)
  const findings = unsignedFindings(asked)
  if (result.kind === 'failed') {
    // A sender that shows a wrong token is guessing, and gets no answer to a handshake.
    const answer = handshakes?.unsigned && !isWrongTry(result) ? answerHandshake(false) : undefined
    const allFindings = result.failure === 'SIGNATURE_MISSING' ? (await explain()).findings : findings
    return (
      answer ?? { taken: false, code: result.failure, message: sentenceOf(result), findings: allFindings }
    )
  }
  const message =
    result.kind === 'open' ? 'nothing is asked of a sender on this machine' : 'the token is right'
  const taken = { taken: true, code: 'TAKEN', message, findings }
  const judged = result.kind === 'signature' ? await explain() : taken
  const answer = judged.taken ? answerHandshake(result.kind !== 'open') : undefined
  return { ...judged, ...answer, findings: judged.findings }
}

const unsigned = {
  NO_VERIFY: 'the endpoint has no `verify`: it looks at no signature until it is given one',
  SIGNS_NOTHING: 'its provider signs nothing: it takes the token',
  NO_SECRET: 'there is nothing to verify with yet: `reveille doctor` says what to set for `verify`',
  SIGNATURE_NOT_ASKED: '`auth` does not ask for a signature: none is looked at',
} as const

/** Says why no signature is looked at, where that is so. */
function unsignedFindings({ auth, verify }: EndpointAuth): Diagnosis['findings'] {
  const isAsked = auth === 'signature' || auth === 'both'
  const { name, verifier } = verify?.value ?? {}
  if (isAsked && verifier !== undefined) return []
  const ofProvider = verifier === undefined ? 'NO_SECRET' : 'SIGNATURE_NOT_ASKED'
  const code = name === undefined ? 'NO_VERIFY' : signsNothing(name) ? 'SIGNS_NOTHING' : ofProvider
  return [{ code, message: unsigned[code] }]
}

type Result = Diagnosis & { readonly provider?: string; readonly compared: ReturnType<typeof comparedOf> }

/** Says for people what the result is, what explains it, what to do, and what was looked at. The text ends with a line break. */
function formatResult(result: Result, endpoint: string, isNowGiven: boolean, io: Io): string {
  const { taken, code, message, status, findings, provider, scheme, secret, secrets, compared } = result
  const paint = paintFor(io)
  // The status of an accepted request is 200 or 202, depending on what it asks for.
  const usual = taken ? '2xx' : ({ METHOD_NOT_ALLOWED: '405', KEYS_UNAVAILABLE: '503' }[code] ?? '401')
  const accepted = paint.green(code === 'HANDSHAKE' ? 'handshake' : 'taken')
  const outcome = taken ? accepted : `${paint.red('refused')}  ${code}`
  const marked = (isReason: boolean) => (isReason ? paint.red('✗') : paint.yellow('!'))
  const lines = findings.flatMap(({ message, code, advice }, index) => [
    `${marked(!taken && index === 0)} ${printable(`${message} [${code}]`)}`,
    ...(advice === undefined ? [] : [`  ${paint.cyan('→')} ${printable(advice)}`]),
  ])
  const facts = {
    provider: scheme === undefined || scheme === 'default' ? provider : `${provider}, ${scheme}`,
    secret: secret === undefined ? undefined : `${secret} of ${secrets}`,
    headers: compared.headers.join(', ') || undefined,
    body: `${compared.bodyBytes.toLocaleString('en')} bytes`,
    'SHA-256': compared.bodySha256,
    clock: isNowGiven ? `${compared.now}, by --now` : compared.now,
  }
  const head = `/${printable(endpoint)}  ${paint.bold(String(status ?? usual))}  ${outcome}  ${printable(message)}`
  return [head, '', ...lines, ...(lines.length > 0 ? [''] : []), formatSummary(facts, 0)].join('\n')
}

function reportUnknown(endpoint: string, snapshot: Snapshot, io: Io): number {
  const head = `/${endpoint}  404  refused  NOT_FOUND  no mapping and no policy covers this endpoint`
  const text = () => [head, '', ...describeEndpoints(endpoint, snapshot)].join('\n')
  return print(io, { ok: false, endpoint, code: 'NOT_FOUND', results: [] }, text, 1)
}
