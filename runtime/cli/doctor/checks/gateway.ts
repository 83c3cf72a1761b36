/** Checks the running gateway: whether it answers, to whom, and whether it serves what the files say. */

import { isLoopback } from '@reveille/engine'
import { missingStore } from '../../../store/sqlite/index.ts'
import { pasted } from '../../pasted.ts'
import { shortTime } from '../../print.ts'
import { errorsOf, type GenerationItem } from '../../records/generations.ts'
import { lastGoodText } from '../../status-text.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import { startCommand } from '../gateway-view.ts'
import { NotChecked } from '../not-checked.ts'
import type { Subject } from '../subject.ts'

export const gatewayChecks: readonly Check[] = [
  { name: 'gateway', group: 'gateway', title: 'answers', run: gatewayAnswers },
  { name: 'hooks', group: 'gateway', title: 'hooks', run: hooksAnswered },
  { name: 'admin-token', group: 'gateway', title: 'admin', run: adminToken },
  { name: 'exposure', group: 'gateway', title: 'exposure', run: exposure },
  { name: 'live-files', group: 'gateway', title: 'live', run: liveFiles },
]

/** Checks that a gateway runs where the configuration says. */
async function gatewayAnswers(subject: Subject) {
  const { note } = subject.gateway()
  const answer = await judgeReach(subject)
  return note === undefined ? answer : [answer, warning(note.code, note.text, adviceOn.get(note.code))]
}

const adviceOn = new Map<string, string>([
  ['RESTART_DUE', 'Restart it, or put the old address back'],
  ['GATEWAY_FILE_UNTRUSTED', 'Remove the file; the gateway writes it at its next start'],
])

async function judgeReach(subject: Subject): Promise<Result> {
  const gateway = subject.gateway()
  const reach = await gateway.reach()
  switch (reach.is) {
    case 'there': {
      const why = await gateway.notReady()
      if (why === undefined) return ok(`at ${gateway.address}`)
      const text = `at ${gateway.address}, and accepts nothing: ${why}`
      return problem('NOT_READY', text, `See also ${pasted('status', subject.io)}`)
    }
    case 'foreign':
      return problem(
        'NOT_A_GATEWAY',
        `something else answers at ${gateway.address}`,
        'Set `gateway.port` to a free one, or end what listens there',
      )
    case 'silent': {
      const { store, dataDir } = subject.settings().gateway
      const missing = store === 'sqlite' ? missingStore(dataDir) : undefined
      if (missing) return problem(missing.code, missing.message)
      return warning('GATEWAY_DOWN', reach.why, startCommand(subject.io))
    }
  }
}

/** Checks that the gateway accepts hooks. It sends a GET to no endpoint, because the gateway records no such request. */
async function hooksAnswered(subject: Subject) {
  // Where the configuration has errors, only its block `gateway:` is known.
  const { hooks } = subject.valid().configuration.settings
  if (!hooks.enabled)
    return warning(
      'HOOKS_DISABLED',
      'are off: every hook is answered 404',
      'Write `enabled: true` under `hooks:`',
    )
  const gateway = subject.gateway()
  const status = await gateway.statusOf(hooks.path)
  if (status === 405) return ok(`are taken at ${gateway.address}${hooks.path}`)
  return warning(
    'HOOKS_NOT_ANSWERED',
    `${gateway.address}${hooks.path} answers ${status}, and not as one that takes hooks`,
    `What is live may be older than the files: ${pasted('status', subject.io)} says so`,
  )
}

/** Checks that the running gateway accepts the token of the configuration. */
async function adminToken(subject: Subject) {
  if (subject.settings().gateway.tokens.length === 0) {
    return warning(
      'NO_ADMIN_TOKEN',
      'what happened cannot be read: there is no `gateway.auth.token`',
      'Write `auth: { token: "${REVEILLE_GATEWAY_TOKEN}" }` under `gateway:`, and the variable into .env',
    )
  }
  const status = await subject.gateway().admission()
  switch (status) {
    case 200:
      return ok('the token is taken')
    case 401:
      return problem(
        'ADMIN_TOKEN_REFUSED',
        'the running gateway wants another token than `gateway.auth.token` of these files',
        subject.gateway().pid === undefined
          ? `Another gateway may listen there, or one that has not read them: start it again, or ${pasted('check', subject.io)}`
          : `It has not read them since the token was changed, or refused them: \`kill -HUP ${subject.gateway().pid}\` has it read them, and ${pasted('check', subject.io)} says what it would refuse`,
      )
    case 404:
      return problem(
        'NO_ADMIN_SURFACE',
        'the running gateway has no admin surface: what is live has no `gateway.auth.token`',
        'It goes live with the files; what keeps them back, the log of the gateway says',
      )
    default:
      return problem('ADMIN_ANSWER', `the running gateway answers ${status}`, 'Its log says why')
  }
}

/** Checks which machines reach the gateway, and whether tokens cross the network without TLS. */
async function exposure(subject: Subject) {
  const { host, trustedProxies } = subject.settings().gateway
  if (isLoopback(host)) return ok(`only this machine reaches it (${host})`)
  if (trustedProxies.length > 0)
    return ok(`other machines reach it (${host}); the proxy of \`gateway.trustedProxies\` has to end TLS`)
  return warning(
    'NO_TLS',
    `other machines reach it (${host}), and the gateway speaks no TLS: tokens and bodies can be read on their way`,
    'Let a proxy end TLS: set `gateway.host: 127.0.0.1` with the proxy on this machine, and name it in `gateway.trustedProxies`',
  )
}

/** Checks that the live generation is what the files say. */
async function liveFiles(subject: Subject) {
  const admin = await subject.gateway().admin()
  const { items } = await admin.ask('listGenerations', { query: { limit: 500 } })
  const { lastGood } = await subject.gateway().status()
  if (!lastGood) return judge(items, subject)
  const fix = `Fix them, or the next start may fail: ${pasted('check', subject.io)} says what is wrong`
  return problem('LAST_GOOD_SERVED', lastGoodText(lastGood), fix)
}

function judge(items: readonly GenerationItem[], { compiled, io }: Subject): Result {
  const live = items.find(({ state }) => state === 'live')
  if (live === undefined) throw new NotChecked('GATEWAY_ANSWER', 'the gateway reports no live generation')
  const { generation } = live
  const refused = items.find(({ stands }) => stands)
  if (refused) {
    return problem(
      'FILES_REFUSED',
      `the files were refused at ${shortTime(refused.at, io.now())} (${errorsOf(refused)}); generation ${generation} goes on serving`,
      `Fix them: ${pasted('check', io)} says what is wrong`,
    )
  }
  if (live.rolledBack) {
    return warning(
      'ROLLED_BACK',
      `generation ${generation} serves after a rollback, in the place of the files`,
      `Change the files, or ${pasted('reload', io)}`,
    )
  }
  if (!compiled.ok) throw new NotChecked('CONFIGURATION_BROKEN', 'the configuration has errors')
  if (live.digest === compiled.configuration.digest)
    return ok(`generation ${generation} is what the files say`)
  return warning(
    'FILES_NOT_LIVE',
    `generation ${generation} is not what the files and the variables here say`,
    `${pasted('reload', io)} reads them; a variable may have another value where the gateway was started`,
  )
}
