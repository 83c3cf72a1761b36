/** Guards against what a module does besides answering: uncaught errors, and ending its thread. */

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

  // The main thread would have to read whatever is posted there.
  parentPort?.close()
}

/** `by`: the function that the module called; the frame above it is the author's. */
function sentenceFrom(by: () => void, text: string): ErrorReport {
  const error = new Error(text)
  Error.captureStackTrace(error, by)
  return { ...reportError(error), text, isSentence: true }
}
