/** The process entry: the command line, and nothing before it. */

import { endWithLauncher } from './bin/parent.js'
import { runCli } from './cli/cli.ts'

endWithLauncher()
const exitCode = await runCli(process.argv)
// Output that could not be written has set one of its own.
if (exitCode !== 0) process.exitCode = exitCode
// What a plugin left open must not keep a gateway alive that has stopped.
setTimeout(() => {
  if (process.stdout.writableLength === 0) process.exit()
}, 1000).unref()
