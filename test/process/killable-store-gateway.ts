/** Runs the command line, and ends the store's thread on SIGUSR2. */

import { Worker } from 'node:worker_threads'
import { runCli } from '../../runtime/cli/cli.ts'

const { postMessage } = Worker.prototype
let writer: Worker | undefined
Worker.prototype.postMessage = function (...message) {
  // Only the writer gets messages of the type `post`.
  if (message[0].type === 'post') writer ??= this
  postMessage.apply(this, message)
}
process.once('SIGUSR2', () => void writer?.terminate())

process.exitCode = await runCli(process.argv)
