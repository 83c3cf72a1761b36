/** The channel `terminal`: replies for the person who watches the gateway. */

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
 * Node's stream for a file holds the whole gateway up while a disk does not answer, and takes a write that a full disk cut
 * short for a whole one. A file descriptor is written to at its current position, until all of the text is there.
 */
const write: TerminalOptions['write'] = (stream, text, done) => {
  const { fd } = stream as { readonly fd?: number }
  if (stream instanceof Socket || fd === undefined) stream.write(text, done)
  else writeFile(fd, text, done)
}
