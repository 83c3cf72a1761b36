/** Checks that replies can be sent: no channel is held, and no reply waits for one that is not configured. */

import { counted } from '../../counted.ts'
import { holdText, nextSteps } from '../../reading/channel-text.ts'
import { type Check, ok, type Result, warning } from '../check.ts'
import { listed } from '../listed.ts'

export const channels: Check = {
  name: 'channels',
  group: 'work',
  title: 'channels',
  async run(subject) {
    const { channels } = await subject.gateway().status()
    const held = channels.filter(({ state }) => state !== 'open')
    if (held.length === 0) {
      const names = channels.map(({ channel }) => channel)
      return ok(
        names.length === 0
          ? 'none is configured'
          : `${listed(names)} ${names.length === 1 ? 'is' : 'are'} open`,
      )
    }
    return held.map((status): Result => {
      const steps = nextSteps([{ ...status, parked: 0 }], subject.io)
      const waits = status.pending > 0 ? `; ${counted(status.pending, 'reply', 'replies')} wait` : ''
      return warning('CHANNEL_HELD', `${holdText(status, subject.io.now())}${waits}`, steps[0])
    })
  },
}
