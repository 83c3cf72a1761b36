/** Guards against what a module does besides answering: uncaught errors, ending its thread, posting to its parent. */

import { parentPort } from 'node:worker_threads'
import { reportError } from './error-report.ts'
import type { CurrentCall, ErrorReport, FromWorker } from './protocol.ts'

export interface GuardOptions {
  send(message: FromWorker): void
  /** The call whose code runs now. */
  current(): CurrentCall | undefined
  /** The call that has no answer yet. */
  running(): number | undefined
}

export function createGuards({ send, current, running }: GuardOptions): void {
  const ofCall = () => current() ?? { call: undefined, requestId: undefined }
  const escaped = (error: ErrorReport) => send({ type: 'escaped', ...ofCall(), error })
  const uncaught = (thrown: unknown, how: string) => {
    const described = reportError(thrown)
    escaped({ ...described, text: `${described.text} (${how})` })
  }
  // Node knows for which call the code ran that threw or rejected.
  process.on('uncaughtException', (error) => uncaught(error, 'an uncaught error'))
  process.on('unhandledRejection', (reason) => uncaught(reason, 'an unhandled rejection'))

  const exit = process.exit.bind(process)
  process.exit = (code) => {
    const text = `ended its worker with process.exit(${code ?? ''})`
    // An exit by code of an earlier call must not end the current one, so it becomes an uncaught error.
    if (running() !== undefined && running() !== current()?.call) throw new Error(text)
    escaped(sentenceFrom(process.exit, text))
    return exit(code)
  }

  /** One message is enough, because the main thread would have to read a flood. */
  let hasPosted = false
  if (parentPort !== null) {
    const postMessage = () => {
      if (!hasPosted) escaped(sentenceFrom(postMessage, 'posted to parentPort, which is not for transforms'))
      hasPosted = true
    }
    parentPort.postMessage = postMessage
  }
}

/** `by`: the function that the module called; the frame above it is the author's. */
function sentenceFrom(by: () => void, text: string): ErrorReport {
  const error = new Error(text)
  Error.captureStackTrace(error, by)
  return { ...reportError(error), text, isSentence: true }
}
