/** Checks that the live generation is what the files say. */

import { pasted } from '../../pasted.ts'
import { errorsOf, type GenerationItem } from '../../reading/generation-item.ts'
import { lastGoodText } from '../../reading/status.ts'
import { shortTime } from '../../table.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import { NotChecked } from '../not-checked.ts'
import type { Subject } from '../subject.ts'

export const liveFiles: Check = {
  name: 'live-files',
  group: 'gateway',
  title: 'live',
  async run(subject) {
    const admin = await subject.gateway().admin()
    const { items } = (await admin.get('/api/generations')) as { readonly items: readonly GenerationItem[] }
    const { lastGood } = await subject.gateway().status()
    if (!lastGood) return judge(items, subject)
    const fix = `Mend them, or the next start may fail: ${pasted('check', subject.io)} says what is wrong`
    return problem('LAST_GOOD_SERVED', lastGoodText(lastGood), fix)
  },
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
      `Mend them: ${pasted('check', io)} says what is wrong`,
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
