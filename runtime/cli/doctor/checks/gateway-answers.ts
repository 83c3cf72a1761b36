/** Checks that a gateway runs where the configuration says. */

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
    const told =
      note.code === 'RESTART_DUE'
        ? warning('RESTART_DUE', note.text, 'Restart it, or put the old address back')
        : warning(
            'GATEWAY_FILE_UNTRUSTED',
            note.text,
            'Remove the file; the gateway writes it at its next start',
          )
    return [answer, told]
  },
}

async function judgeReach(subject: Subject): Promise<Result> {
  const gateway = subject.gateway()
  const reach = await gateway.reach()
  switch (reach.is) {
    case 'there':
      return (await gateway.statusOf('/readyz')) === 200
        ? ok(`at ${gateway.address}`)
        : problem(
            'NOT_READY',
            `at ${gateway.address}, and accepts nothing`,
            `${pasted('status', subject.io)} says why`,
          )
    case 'foreign':
      return problem(
        'NOT_A_GATEWAY',
        `something else answers at ${gateway.address}`,
        'Set `gateway.port` to a free one, or end what listens there',
      )
    case 'silent':
      return warning('GATEWAY_DOWN', reach.why, startCommand(subject.io))
  }
}
