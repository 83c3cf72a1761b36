/** Runs the command line; the entry of the process. */

import { endWithLauncher } from './bin/parent.js'
import { runCli } from './cli/cli.ts'

endWithLauncher()
const exitCode = await runCli(process.argv)
// Output that could not be written has set an exit code already.
if (exitCode !== 0) process.exitCode = exitCode
// Something that a plugin left open must not keep a stopped gateway alive.
setTimeout(() => {
  if (process.stdout.writableLength === 0) process.exit()
}, 1000).unref()
