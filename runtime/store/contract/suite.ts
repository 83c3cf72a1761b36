/** The contract suite of the port: every store passes it. Nothing in it knows how a store keeps its data. */

import { acceptingContract } from './accepting.ts'
import { adminSendContract } from './admin-send.ts'
import type { ContractSubject } from './bench/bench.ts'
import { boundsContract } from './bounds.ts'
import { busyContract } from './busy.ts'
import { cancellingContract } from './cancelling.ts'
import { changesContract } from './changes.ts'
import { clusterContract } from './cluster.ts'
import { coalescingContract } from './coalescing.ts'
import { failingContract } from './failing.ts'
import { forgettingContract } from './forgetting.ts'
import { heartbeatContract } from './heartbeat.ts'
import { issuesContract } from './issues.ts'
import { performingContract } from './performing.ts'
import { poolsContract } from './pools.ts'
import { readingContract } from './reading.ts'
import { replayJobsContract } from './replay-jobs.ts'
import { retentionContract } from './retention.ts'
import { sessionsContract } from './sessions.ts'
import { spendingContract } from './spending.ts'
import { squareContract } from './square.ts'
import { togetherContract } from './together.ts'

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
