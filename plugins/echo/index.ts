/** The runner `echo` answers with its prompt. */

import { definePlugin } from '@reveille/kit'
import { createEchoRunner } from './runner.ts'

export default definePlugin({
  name: 'echo',
  setup() {
    return { runners: [createEchoRunner()] }
  },
})
