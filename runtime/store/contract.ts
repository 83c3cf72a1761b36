/** The contract suite of the port: every store passes it. Nothing in it knows how a store keeps its data. */

import { acceptingContract } from './contract/accepting.ts'
import { adminSendContract } from './contract/admin-send.ts'
import type { ContractSubject } from './contract/bench/bench.ts'
import { boundsContract } from './contract/bounds.ts'
import { busyContract } from './contract/busy.ts'
import { cancellingContract } from './contract/cancelling.ts'
import { changesContract } from './contract/changes.ts'
import { clusterContract } from './contract/cluster.ts'
import { coalescingContract } from './contract/coalescing.ts'
import { failingContract } from './contract/failing.ts'
import { forgettingContract } from './contract/forgetting.ts'
import { heartbeatContract } from './contract/heartbeat.ts'
import { issuesContract } from './contract/issues.ts'
import { performingContract } from './contract/performing.ts'
import { poolsContract } from './contract/pools.ts'
import { readingContract } from './contract/reading.ts'
import { replayJobsContract } from './contract/replay-jobs.ts'
import { retentionContract } from './contract/retention.ts'
import { sessionsContract } from './contract/sessions.ts'
import { spendingContract } from './contract/spending.ts'
import { squareContract } from './contract/square.ts'
import { togetherContract } from './contract/together.ts'

const parts = [
  ...[acceptingContract, performingContract, coalescingContract, busyContract, boundsContract],
  ...[poolsContract, clusterContract, heartbeatContract, cancellingContract, adminSendContract],
  ...[sessionsContract, spendingContract, readingContract, changesContract, retentionContract],
  ...[forgettingContract, replayJobsContract, issuesContract, failingContract],
]

export function storeContract(subject: ContractSubject): void {
  for (const part of parts) part(subject)
  togetherContract(subject)
  squareContract(subject)
}
