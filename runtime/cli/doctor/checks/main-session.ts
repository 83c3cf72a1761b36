/** Checks that the turns of the main session do not keep failing. */

import { pasted } from '../../pasted.ts'
import { heartbeatText } from '../../reading/heartbeat-text.ts'
import { type Check, ok, warning } from '../check.ts'
import { NotChecked } from '../not-checked.ts'

export const mainSession: Check = {
  name: 'main-session',
  group: 'work',
  title: 'main session',
  async run(subject) {
    const { heartbeat } = await subject.gateway().status()
    if (heartbeat === null) throw new NotChecked('GATEWAY_ANSWER', 'the gateway does not report it')
    const text = heartbeatText(heartbeat, subject.io.now())
    if (heartbeat.state !== 'failing') return ok(text)
    return warning('MAIN_SESSION_FAILING', text, `${pasted('runs --kind heartbeat', subject.io)} says why`)
  },
}
