/** Checks that a gateway runs where the configuration says. */

import { missingStore } from '../../../store/sqlite/index.ts'
import { pasted } from '../../pasted.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import { startCommand } from '../gateway-view.ts'
import type { Subject } from '../subject.ts'

export const gatewayAnswers: Check = {
  name: 'gateway',
  group: 'gateway',
  title: 'answers',
  async run(subject) {
    const { note } = subject.gateway()
    const answer = await judgeReach(subject)
    if (note === undefined) return answer
    const noteResult =
      note.code === 'RESTART_DUE'
        ? warning('RESTART_DUE', note.text, 'Restart it, or put the old address back')
        : warning(
            'GATEWAY_FILE_UNTRUSTED',
            note.text,
            'Remove the file; the gateway writes it at its next start',
          )
    return [answer, noteResult]
  },
}

async function judgeReach(subject: Subject): Promise<Result> {
  const gateway = subject.gateway()
  const reach = await gateway.reach()
  switch (reach.is) {
    case 'there':
      return judgeReady(await gateway.notReady(), gateway.address, subject)
    case 'foreign':
      return problem(
        'NOT_A_GATEWAY',
        `something else answers at ${gateway.address}`,
        'Set `gateway.port` to a free one, or end what listens there',
      )
    case 'silent': {
      const missing = missingStore(subject.settings().gateway.dataDir)
      if (missing) return problem(missing.code, missing.message)
      return warning('GATEWAY_DOWN', reach.why, startCommand(subject.io))
    }
  }
}

/** `why` says what keeps the gateway from accepting, and what to do where there is something to do. */
function judgeReady(why: string | undefined, address: string, { io }: Subject): Result {
  if (why === undefined) return ok(`at ${address}`)
  return problem(
    'NOT_READY',
    `at ${address}, and accepts nothing: ${why}`,
    `See also ${pasted('status', io)}`,
  )
}
