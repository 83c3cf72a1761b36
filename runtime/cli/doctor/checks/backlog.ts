/** Checks how full the backlog is. */

import { pasted } from '../../pasted.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'

/** The share of the limit from which a warning is due. */
const crowdedFrom = 0.8

export const backlog: Check = {
  name: 'backlog',
  group: 'work',
  title: 'backlog',
  async run(subject) {
    const records = await subject.records()
    return judgeBacklog(
      await records.backlog(),
      records.source,
      `${pasted('status', subject.io)} says what waits`,
    )
  },
}

export function judgeBacklog(
  { waiting, limit }: { readonly waiting: number; readonly limit: number },
  source: string,
  fix: string,
): Result {
  const text = `${waiting.toLocaleString('en')} of ${limit.toLocaleString('en')} places taken (says ${source})`
  if (waiting >= limit) return problem('BACKLOG_FULL', `${text}: agent requests are answered 503`, fix)
  return waiting >= limit * crowdedFrom ? warning('BACKLOG_NEARLY_FULL', text, fix) : ok(text)
}
