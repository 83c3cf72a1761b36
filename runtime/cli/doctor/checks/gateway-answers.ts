/** Checks that a gateway runs where the configuration says. */

import { pasted } from '../../pasted.ts'
import { type Check, ok, problem, warning } from '../check.ts'
import { startCommand } from '../gateway-view.ts'

export const gatewayAnswers: Check = {
  name: 'gateway',
  group: 'gateway',
  title: 'answers',
  async run(subject) {
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
  },
}
