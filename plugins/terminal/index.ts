/** The channel `terminal` prints replies for the person who watches the gateway. */

import { writeFile } from 'node:fs'
import { Socket } from 'node:net'
import { definePlugin } from '@reveille/kit'
import { createTerminalChannel, parseTarget, type TerminalConfig, type TerminalOptions } from './channel.ts'

export default definePlugin<TerminalConfig>({
  name: 'terminal',
  target: parseTarget,
  setup({ config }) {
    const { stdout, stderr } = process
    const { channel, close } = createTerminalChannel({ ...config, stdout, stderr, write })
    return { channels: [channel], close }
  },
})

/**
 * Writes files by their descriptor, at its current position and until the whole text is written. Node's stream for a file
 * would block the gateway while a disk does not answer, and would report a write that a full disk cut short as complete.
 */
const write: TerminalOptions['write'] = (stream, text, done) => {
  const { fd } = stream as { readonly fd?: number }
  if (stream instanceof Socket || fd === undefined) stream.write(text, done)
  else writeFile(fd, text, done)
}
