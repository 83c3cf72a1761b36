/** Checks a cluster: its nodes, its database, and whether clocks, versions and configurations agree. */

import { examineDatabase } from '../../../store/examination.ts'
import { type DatabaseState, type NodeRecord, StoreError } from '../../../store/port.ts'
import { listed } from '../../print.ts'
import { differences, oldTransactionText } from '../../status-text.ts'
import { type Check, ok, orOk, problem, type Result, warning } from '../check.ts'
import type { DoctorContext } from '../context.ts'
import { NotChecked } from '../gateway-view.ts'
import { assessSkew } from './machine.ts'

/** For configurations whose store is a server. */
export const clusterChecks: readonly Check[] = [
  { name: 'database', group: 'cluster', title: 'database', run: database },
  {
    name: 'nodes',
    group: 'cluster',
    title: 'nodes',
    run: async (subject) => assessNodes((await subject.gateway().status()).nodes),
  },
  { name: 'node-clocks', group: 'cluster', title: 'clocks', run: clocks },
]

/** Asks the database itself, as the role that the gateway has. */
async function database(subject: DoctorContext): Promise<readonly Result[]> {
  try {
    const place = { location: subject.settings().gateway.store, configFile: subject.file }
    const { state, skewMs, hasStore } = await examineDatabase(place, subject.io.now)
    const content = hasStore ? 'with a store' : 'empty: the first start makes the tables'
    const skew = assessSkew(-skewMs, "the database's clock", 'Have both machines keep their time by NTP')
    return [ok(`PostgreSQL ${state.version}, ${content}`), ...assessTransaction(state), skew]
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (error.code === 'SCHEMA_NEWER')
      return [problem('SCHEMA_NEWER', error.message, 'Start the newer version here too')]
    return [problem('DATABASE_UNUSABLE', error.message, error.fix?.replace(/\.$/, ''))]
  }
}

export function assessTransaction({ oldestTransaction }: DatabaseState): readonly Result[] {
  const text = oldTransactionText(oldestTransaction)
  if (text === undefined) return []
  const [, pid] = /process (\d+)/.exec(oldestTransaction?.by ?? '') ?? []
  const end = pid === undefined ? 'End it' : `End it, or its session: SELECT pg_terminate_backend(${pid})`
  return [warning('OLD_TRANSACTION', text, `${end}; idle_in_transaction_session_timeout ends forgotten ones`)]
}

export function assessNodes(nodes: readonly NodeRecord[]): readonly Result[] {
  const found: Result[] = []
  const versions = [...new Set(nodes.map(({ version }) => version))]
  if (versions.length > 1) {
    const text = `they are of the versions ${listed(versions)}`
    found.push(warning('NODE_VERSIONS', text, 'Finish the upgrade, node by node'))
  }
  const text = differences(nodes)
  if (text !== undefined) {
    const fix = 'Bring the same files to all machines; `reveille status` on each says whether it refuses them'
    found.push(warning('NODE_CONFIGURATIONS', text, fix))
  }
  if (nodes.every(({ role }) => role === 'ingress')) {
    const text = 'all are of the role ingress, so nothing is performed'
    found.push(problem('NOTHING_PERFORMED', text, 'Start one without --role ingress'))
  }
  const polling = nodes.filter(({ wakeUp }) => wakeUp === 'poll').map(({ name }) => name)
  if (polling.length > 0) {
    const text = `${listed(polling)} ${polling.length === 1 ? 'asks' : 'ask'} four times a second, as no notification of the database arrives`
    const fix =
      'A pooler in transaction mode is in between: use its session mode, or name the database itself in `gateway.store`'
    found.push(warning('NO_NOTIFICATIONS', text, fix))
  }
  return [orOk(found, `${nodes.length}, of one version and with one configuration`)].flat()
}

async function clocks(subject: DoctorContext) {
  const { nodes } = await subject.gateway().status()
  const judged = nodes.flatMap(({ name, skewMs }) => {
    if (skewMs === undefined) return []
    const result = assessSkew(-skewMs, "the database's", `Have ${name} keep its time by NTP`)
    return [{ ...result, message: `${name}: ${result.message}` }]
  })
  if (judged.length === 0) throw new NotChecked('GATEWAY_ANSWER', 'no node has compared its clock yet')
  return orOk(
    judged.filter(({ state }) => state !== 'ok'),
    "as the database's",
  )
}
