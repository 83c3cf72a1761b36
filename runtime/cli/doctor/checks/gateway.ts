/** Checks the running gateway: whether it answers, to whom, and whether it serves what the files say. */

import { isLoopback } from '@reveille/engine'
import { missingStore } from '../../../store/sqlite/index.ts'
import { commandLine, errorsOf, shortTime } from '../../print.ts'
import { lastGoodText } from '../../status-text.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import type { DoctorContext } from '../context.ts'
import { NotChecked } from '../gateway-view.ts'

export const gatewayChecks: readonly Check[] = [
  { name: 'gateway', group: 'gateway', title: 'answers', run: gatewayAnswers },
  { name: 'hooks', group: 'gateway', title: 'hooks', run: hooksAnswered },
  { name: 'admin-token', group: 'gateway', title: 'admin', run: adminToken },
  { name: 'exposure', group: 'gateway', title: 'exposure', run: exposure },
  { name: 'live-files', group: 'gateway', title: 'live', run: liveFiles },
]

const noteFixes = new Map<string, string>([
  ['RESTART_DUE', 'Restart it, or put the old address back'],
  ['GATEWAY_FILE_UNTRUSTED', 'Remove the file; the gateway writes it at its next start'],
])

/** Checks that a gateway runs where the configuration says. */
async function gatewayAnswers(subject: DoctorContext) {
  const { note } = subject.gateway()
  const answer = await assessReach(subject)
  return note === undefined ? answer : [answer, warning(note.code, note.text, noteFixes.get(note.code))]
}

async function assessReach({ gateway: view, settings, io }: DoctorContext): Promise<Result> {
  const gateway = view()
  const { address } = gateway
  const reach = await gateway.reach()
  if (reach.kind === 'gateway') {
    const why = await gateway.notReady()
    if (why === undefined) return ok(`at ${address}`)
    return problem(
      'NOT_READY',
      `at ${address}, but not ready: ${why}`,
      `See also ${commandLine('status', io)}`,
    )
  }
  if (reach.kind === 'foreign') {
    const fix = 'Set `gateway.port` to a free port, or stop the program that listens there'
    return problem('NOT_A_GATEWAY', `something else answers at ${address}`, fix)
  }
  const { store, dataDir } = settings().gateway
  const missing = store === 'sqlite' ? missingStore(dataDir) : undefined
  if (missing) return problem(missing.code, missing.message)
  return warning('GATEWAY_DOWN', reach.reason, `Start it: ${commandLine('start', io)}`)
}

/** Checks that the gateway accepts hooks. It sends a GET to `hooks.path` itself, because the gateway does not record that. */
async function hooksAnswered(subject: DoctorContext) {
  // Where the configuration has errors, only its block `gateway:` is known.
  const { hooks } = subject.valid().configuration.settings
  if (!hooks.enabled) {
    const fix = 'Write `enabled: true` under `hooks:`'
    return warning('HOOKS_DISABLED', 'are disabled: every request is answered 404', fix)
  }
  const gateway = subject.gateway()
  const place = `${gateway.address}${hooks.path}`
  const status = await gateway.statusOf(hooks.path)
  if (status === 405) return ok(`are accepted at ${place}`)
  const fix = `The live configuration may be older than the files: see ${commandLine('status', subject.io)}`
  return warning(
    'HOOKS_NOT_ANSWERED',
    `${place} answers ${status} in place of 405, so it may not accept hooks`,
    fix,
  )
}

/** Checks that the running gateway accepts the token of the configuration. */
async function adminToken({ settings, gateway, io }: DoctorContext) {
  if (settings().gateway.tokens.length === 0)
    return warning(
      'NO_ADMIN_TOKEN',
      'the history cannot be read: no `gateway.auth.token` is set',
      'Write `auth: { token: "${REVEILLE_GATEWAY_TOKEN}" }` under `gateway:`, and the variable into .env',
    )
  const status = await gateway().admission()
  if (status === 200) return ok('the token is accepted')
  const { pid } = gateway()
  const check = commandLine('check', io)
  if (status === 401)
    return problem(
      'ADMIN_TOKEN_REFUSED',
      'the running gateway does not accept the `gateway.auth.token` of these files',
      pid === undefined
        ? `It may be another gateway, or may not have read these files: restart it, or run ${check}`
        : `It has not reloaded since the token changed, or it refused the files: reload with \`kill -HUP ${pid}\`, and see with ${check} what it would refuse`,
    )
  if (status === 404)
    return problem(
      'NO_ADMIN_SURFACE',
      'the running gateway has no admin API: its live configuration has no `gateway.auth.token`',
      "It is enabled when the files go live; the gateway's log says why they have not",
    )
  return problem('ADMIN_ANSWER', `the running gateway answers ${status}`, 'Its log says why')
}

/** Checks which machines reach the gateway, and whether tokens cross the network without TLS. */
async function exposure({ settings }: DoctorContext) {
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

/** Checks that the live generation matches the files. */
async function liveFiles({ gateway, compiled, io }: DoctorContext) {
  const check = `${commandLine('check', io)} says what is wrong`
  const { items } = await (await gateway().admin()).ask('listGenerations', { query: { limit: 500 } })
  const { lastGood } = await gateway().status()
  if (lastGood)
    return problem(
      'LAST_GOOD_SERVED',
      lastGoodText(lastGood),
      `Fix them, or the next start may fail: ${check}`,
    )
  const live = items.find(({ state }) => state === 'live')
  if (live === undefined) throw new NotChecked('GATEWAY_ANSWER', 'the gateway reports no live generation')
  const serves = `generation ${live.generation}`
  const refused = items.find(({ isCurrent }) => isCurrent)
  if (refused) {
    const text = `the files were refused at ${shortTime(refused.at, io.now())} (${errorsOf(refused)}); ${serves} stays live`
    return problem('FILES_REFUSED', text, `Fix them: ${check}`)
  }
  if (live.rolledBack) {
    const fix = `Change the files, or ${commandLine('reload', io)}`
    return warning('ROLLED_BACK', `${serves} is live after a rollback, in place of the files`, fix)
  }
  if (!compiled.ok) throw new NotChecked('CONFIGURATION_BROKEN', 'the configuration has errors')
  if (live.digest === compiled.configuration.digest) return ok(`${serves} matches the files`)
  return warning(
    'FILES_NOT_LIVE',
    `${serves} differs from the files and the variables here`,
    `${commandLine('reload', io)} reads them; a variable may have another value where the gateway was started`,
  )
}
