/** Checks the running gateway: whether it answers, to whom, whether it serves what the files say, and its open issues. */

import { coversPath, isLoopback } from '@reveille/engine'
import { storeProblem } from '../../../store/sqlite/index.ts'
import { counted, listed, shortTime } from '../../print.ts'
import { type Check, ok, orOk, problem, type Result, type Subject, valid, warning } from '../check.ts'
import { NotChecked } from '../gateway-view.ts'

export const gatewayChecks: readonly Check[] = [
  { name: 'gateway', group: 'gateway', title: 'answers', run: gatewayAnswers },
  { name: 'hooks', group: 'gateway', title: 'hooks', run: hooksAnswered },
  { name: 'admin-token', group: 'gateway', title: 'admin', run: adminToken },
  { name: 'exposure', group: 'gateway', title: 'exposure', run: exposure },
  { name: 'live-files', group: 'gateway', title: 'live', run: liveFiles },
  { name: 'issues', group: 'work', title: 'issues', run: issues },
  { name: 'traffic', group: 'work', title: 'traffic', run: traffic },
]

const noteFixes = new Map<string, string>([
  ['RESTART_DUE', 'Restart it, or put the old address back'],
  ['GATEWAY_FILE_UNTRUSTED', 'Remove the file; the gateway writes it at its next start'],
])

/** Checks that a gateway runs where the configuration says. */
async function gatewayAnswers(subject: Subject) {
  const { note } = subject.gateway()
  const answer = await assessReach(subject)
  return note === undefined ? answer : [answer, warning(note.code, note.text, noteFixes.get(note.code))]
}

async function assessReach({ gateway: view, settings }: Subject): Promise<Result> {
  const gateway = view()
  const { address } = gateway
  const reach = await gateway.reach()
  if (reach.kind === 'gateway') {
    const why = await gateway.notReady()
    if (why === undefined) return ok(`at ${address}`)
    return problem('NOT_READY', `at ${address}, but not ready: ${why}`, 'See also `reveille status`')
  }
  if (reach.kind === 'foreign') {
    const fix = 'Set `gateway.port` to a free port, or stop the program that listens there'
    return problem('NOT_A_GATEWAY', `something else answers at ${address}`, fix)
  }
  const { store, dataDir } = settings().gateway
  const broken = store === 'sqlite' ? await storeProblem(dataDir) : undefined
  if (broken) return problem(broken.code, broken.message)
  return warning(
    'GATEWAY_DOWN',
    reach.reason,
    'Start it: `reveille start`; its work and issues are not known',
  )
}

/** Checks that the gateway accepts hooks. It sends a GET to `hooks.path` itself, because the gateway does not record that. */
async function hooksAnswered(subject: Subject) {
  // Where the configuration has errors, only its block `gateway:` is known.
  const { hooks } = valid(subject).configuration.settings
  const fix = 'Write `enabled: true` under `hooks:`'
  if (!hooks.enabled) return warning('HOOKS_DISABLED', 'are disabled: every request is answered 404', fix)
  const gateway = subject.gateway()
  const place = `${gateway.address}${hooks.path}`
  const status = await gateway.statusOf(hooks.path)
  if (status === 405) return ok(`are accepted at ${place}`)
  const text = `${place} answers ${status} in place of 405, so it may not accept hooks`
  return warning('HOOKS_NOT_ANSWERED', text, 'The live configuration may be older than the files')
}

/** Checks that the running gateway accepts the token of the configuration. */
async function adminToken({ settings, gateway }: Subject) {
  if (settings().gateway.tokens.length === 0)
    return warning(
      'NO_ADMIN_TOKEN',
      'the history cannot be read: no `gateway.auth.token` is set',
      'Write `auth: { token: "${REVEILLE_GATEWAY_TOKEN}" }` under `gateway:`, and the variable into .env',
    )
  const status = await gateway().admission()
  if (status === 200) return ok('the token is accepted')
  const { pid = 'PID' } = gateway()
  const fix = `If the token was changed, the gateway has not read it: \`kill -HUP ${pid}\`; \`reveille check\` says what it would refuse`
  if (status === 401 || status === 404)
    return problem('ADMIN_TOKEN_REFUSED', `the running gateway does not accept the token (${status})`, fix)
  return problem('ADMIN_ANSWER', `the running gateway answers ${status}`, 'Its log says why')
}

/** Checks which machines reach the gateway, and whether tokens cross the network without TLS. */
async function exposure({ settings }: Subject) {
  const { host, trustedProxies } = settings().gateway
  if (isLoopback(host)) return ok(`only this machine reaches it (${host})`)
  if (trustedProxies.length > 0)
    return ok(
      `other machines reach it (${host}); the proxy in \`gateway.trustedProxies\` has to terminate TLS`,
    )
  return warning(
    'NO_TLS',
    `other machines reach it (${host}), and the gateway does not use TLS: tokens and bodies can be read in transit`,
    'Let a proxy terminate TLS: set `gateway.host: 127.0.0.1` with the proxy on this machine, and name it in `gateway.trustedProxies`',
  )
}

/** Checks that the live generation matches the files. Refused files are an issue of the gateway. */
async function liveFiles(subject: Subject) {
  const admin = await subject.gateway().admin()
  const { items } = await admin.ask('listGenerations', { query: { limit: 500 } })
  const live = items.find(({ state }) => state === 'live')
  if (live === undefined) throw new NotChecked('GATEWAY_ANSWER', 'the gateway reports no live generation')
  const serves = `generation ${live.generation}`
  if (live.rolledBack) {
    const text = `${serves} is live after a rollback, in place of the files`
    return warning('ROLLED_BACK', text, 'Change the files, or `reveille reload`')
  }
  if (live.digest === valid(subject).configuration.digest) return ok(`${serves} matches the files`)
  return warning(
    'FILES_NOT_LIVE',
    `${serves} differs from the files and the variables here`,
    '`reveille reload` reads them; a variable may have another value where the gateway was started',
  )
}

/** Reports what the gateway itself found to be wrong, the worst first. */
async function issues({ gateway }: Subject) {
  const { items } = await (await gateway().admin()).ask('listIssues', {
    query: { state: 'open', limit: 500 },
  })
  const results = items.map(({ code, severity, cause, next: { label, command } }) => {
    const fix = command === undefined ? label : `${label}: \`${command}\``
    return (severity === 'losing-events' ? problem : warning)(code, cause.replace(/\.$/, ''), fix)
  })
  return orOk(results, 'none open')
}

/** Before there were so many requests in so long, an endpoint without one says nothing about its sender. */
const minRequests = 10
const minMs = 86_400_000

/** Checks that requests arrive at each endpoint that was set up. */
async function traffic(subject: Subject) {
  const { snapshot, configuration } = valid(subject)
  const paths = snapshot.mappings.flatMap(({ path }) => path ?? [])
  const names = new Set([...paths, ...Object.keys(configuration.endpoints)])
  for (const builtIn of ['wake', 'agent']) names.delete(builtIn)
  const admin = await subject.gateway().admin()
  const { items, next } = await admin.ask('listRequests', { query: { limit: 500 } })
  const accepted = items.filter(({ outcome }) => outcome !== 'refused')
  const now = subject.io.now()
  const since = accepted.at(-1)?.receivedAt ?? now
  const silent = [...names].filter((name) => !accepted.some(({ endpoint }) => coversPath(name, endpoint)))
  const text = `nothing for ${listed(silent.map((name) => `/${name}`))} among ${counted(accepted.length, 'request')} since ${shortTime(since, now)}`
  if (silent.length === 0) return ok('each endpoint has some')
  if (accepted.length < minRequests || (next === undefined && now - since < minMs)) return ok(text)
  return warning(
    'NO_TRAFFIC',
    text,
    'Look at what the sender says, or remove an endpoint that no sender uses',
  )
}
