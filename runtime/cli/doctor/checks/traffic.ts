/** Checks that something arrives at each endpoint that was set up. */

import type { RequestRecord } from '../../../store/port.ts'
import { counted } from '../../counted.ts'
import { shortTime } from '../../table.ts'
import { type Check, NotChecked, ok, type Result, warning } from '../check.ts'
import { endpointsOf, unseen } from '../endpoints.ts'
import { listed } from '../listed.ts'

export const traffic: Check = {
  name: 'traffic',
  group: 'work',
  title: 'traffic',
  async run(subject) {
    const names = endpointsOf(subject.good())
    if (names.length === 0) return ok('no endpoint but `wake` and `agent`')
    const records = await subject.records()
    const { items, more } = await records.requests()
    return judgeTraffic(names, items, { source: records.source, now: subject.io.now(), more })
  },
}

/** Before that, an endpoint without a request says nothing of its sender. */
const leastRequests = 10
const leastMs = 86_400_000

/** `more`: there are older requests than these. */
export function judgeTraffic(
  names: readonly string[],
  requests: readonly RequestRecord[],
  { source, now, more }: { readonly source: string; readonly now: number; readonly more: boolean },
): Result {
  const taken = requests.filter(({ outcome }) => outcome !== 'refused')
  const oldest = taken.at(-1)
  if (oldest === undefined)
    throw new NotChecked('NOTHING_RECEIVED', `nothing was received yet, says ${source}`)
  const silent = unseen(names, new Set(taken.map(({ endpoint }) => endpoint)))
  const since = `${counted(taken.length, 'request')} since ${shortTime(oldest.receivedAt, now)}`
  if (silent.length === 0)
    return ok(`each of ${counted(names.length, 'endpoint')} has some among ${since} (says ${source})`)
  const isEarly = taken.length < leastRequests || (!more && now - oldest.receivedAt < leastMs)
  if (isEarly)
    return ok(
      `nothing for ${listed(silent.map((name) => `/${name}`))} yet; there were ${since} (says ${source})`,
    )
  return warning(
    'NO_TRAFFIC',
    `nothing for ${listed(silent.map((name) => `/${name}`))} among ${since} (says ${source})`,
    'Look at what the sender says of its deliveries; what nobody sends to can go',
  )
}
