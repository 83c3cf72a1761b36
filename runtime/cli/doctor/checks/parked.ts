/** Checks that no run or delivery waits for the operator's decision. */

import { pasted } from '../../pasted.ts'
import { type Check, ok, type Result, warning } from '../check.ts'

export const parked: Check = {
  name: 'parked',
  group: 'work',
  title: 'parked',
  async run(subject) {
    const records = await subject.records()
    const [runs, open] = await Promise.all([records.parkedRuns(), records.openDeliveries()])
    const deliveries = open.reduce((sum, { parked }) => sum + parked, 0)
    const results: Result[] = []
    if (runs.count > 0) {
      const many = `${runs.count}${runs.more ? '+' : ''}`
      results.push(
        warning(
          'PARKED_RUNS',
          `runs that wait for a decision: ${many} (says ${records.source})`,
          `${pasted('runs --state parked', subject.io)} says why, ${pasted('resume --all', subject.io)} queues them again`,
        ),
      )
    }
    if (deliveries > 0) {
      results.push(
        warning(
          'PARKED_DELIVERIES',
          `replies that could not be sent: ${deliveries} (says ${records.source})`,
          `${pasted('deliveries --state parked', subject.io)} says why, ${pasted('replay --parked', subject.io)} sends them again`,
        ),
      )
    }
    return results.length > 0 ? results : ok(`no run and no delivery (says ${records.source})`)
  },
}
