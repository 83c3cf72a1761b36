/** Checks a cluster: its nodes, its database, and whether clocks, versions and configurations agree. */

import { examineDatabase } from '../../../store/examination.ts'
import { type DatabaseState, type NodeRecord, StoreError } from '../../../store/port.ts'
import { listed } from '../../print.ts'
import { differences } from '../../status-text.ts'
import { type Check, ok, orOk, problem, type Result, type Subject, warning } from '../check.ts'
import { assessSkew } from './machine.ts'

/** For configurations whose store is a server. */
export const clusterChecks: readonly Check[] = [
  { name: 'database', group: 'cluster', title: 'database', run: database },
  {
    name: 'nodes',
    group: 'cluster',
    title: 'nodes',
    run: async ({ gateway }) => assessNodes((await gateway().status()).nodes),
  },
]

/** Asks the database itself, as the role that the gateway has. */
async function database({ settings, file, io }: Subject): Promise<readonly Result[]> {
  try {
    const place = { location: settings().gateway.store, configFile: file }
    const { state, skewMs, hasStore } = await examineDatabase(place, io.now)
    const content = hasStore ? 'with a store' : 'empty: the first start makes the tables'
    const skew = assessSkew(-skewMs, "the database's clock")
    return [ok(`PostgreSQL ${state.version}, ${content}`), ...assessTransaction(state), skew]
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (error.code === 'SCHEMA_NEWER')
      return [problem('SCHEMA_NEWER', error.message, 'Start the newer version here too')]
    return [problem('DATABASE_UNUSABLE', error.message, error.fix?.replace(/\.$/, ''))]
  }
}

/** A transaction of a backup may last for minutes; one that is older than this is more likely forgotten. Milliseconds. */
const oldTransactionMs = 300_000

/** Reports a transaction that is open for so long that dead rows pile up. */
export function assessTransaction({ oldestTransaction: oldest }: DatabaseState): readonly Result[] {
  if (oldest === undefined || oldest.ageMs < oldTransactionMs) return []
  const { by, ageMs } = oldest
  const text = `a transaction of ${by} is open for ${Math.floor(ageMs / 60_000)} minutes, and keeps dead rows from being removed`
  const [, pid] = /process (\d+)/.exec(by) ?? []
  const end = pid === undefined ? 'End it' : `End it, or its session: SELECT pg_terminate_backend(${pid})`
  return [warning('OLD_TRANSACTION', text, `${end}; idle_in_transaction_session_timeout ends forgotten ones`)]
}

export function assessNodes(nodes: readonly NodeRecord[]): readonly Result[] {
  const versions = [...new Set(nodes.map(({ version }) => version))]
  const configurations = differences(nodes)
  const polling = nodes.filter(({ wakeUp }) => wakeUp === 'poll').map(({ name }) => name)
  const findings: (Result | false)[] = [
    versions.length > 1 &&
      warning('NODE_VERSIONS', `versions differ: ${listed(versions)}`, 'Finish the upgrade, node by node'),
    configurations !== undefined &&
      warning('NODE_CONFIGURATIONS', configurations, 'Bring the same files to all machines'),
    nodes.every(({ role }) => role === 'ingress') &&
      problem(
        'NOTHING_PERFORMED',
        'all have the role ingress, so nothing is performed',
        'Start one without --role ingress',
      ),
    polling.length > 0 &&
      warning(
        'NO_NOTIFICATIONS',
        `no notification of the database reaches ${listed(polling)}, which polls`,
        'A pooler in transaction mode is in between: use its session mode, or name the database itself in `gateway.store`',
      ),
    ...nodes.map(({ name, skewMs = 0 }) => {
      const skew = assessSkew(-skewMs, "the database's clock")
      return skew.state !== 'ok' && { ...skew, message: `${name}: ${skew.message}` }
    }),
  ]
  return orOk(
    findings.filter((each) => each !== false),
    `${nodes.length}, of one version and with one configuration`,
  )
}
