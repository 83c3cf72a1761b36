/** Owns what a module does past its answer: errors that nobody catches, ending its thread, posting to whoever started it. */

import { parentPort } from 'node:worker_threads'
import type { CurrentCall, FromWorker, ToldError } from './protocol.ts'
import { tellError } from './tell-error.ts'

export interface GuardOptions {
  send(message: FromWorker): void
  /** Whose code runs now. */
  current(): CurrentCall | undefined
  /** The call that has no answer yet. */
  running(): number | undefined
}

export function createGuards({ send, current, running }: GuardOptions): void {
  const ofCall = () => current() ?? { call: undefined, requestId: undefined }
  const escaped = (error: ToldError) => send({ type: 'escaped', ...ofCall(), error })
  const uncaught = (thrown: unknown, how: string) => {
    const told = tellError(thrown)
    escaped({ ...told, text: `${told.text} (${how})` })
  }
  // Node tells in whose name the code ran that threw or rejected.
  process.on('uncaughtException', (error) => uncaught(error, 'nobody caught it'))
  process.on('unhandledRejection', (reason) => uncaught(reason, 'a promise that nobody awaits'))

  const exit = process.exit.bind(process)
  process.exit = (code) => {
    const text = `ended its worker with process.exit(${code ?? ''})`
    // What an earlier call left behind must not end another one: it goes on as an error that nobody catches.
    if (running() !== undefined && running() !== current()?.call) throw new Error(text)
    send({ type: 'exiting', call: current()?.call, error: sentenceFrom(process.exit, text) })
    return exit(code)
  }

  /** One is enough: a flood would be the main thread's to read. */
  let hasPosted = false
  if (parentPort !== null) {
    const postMessage = () => {
      if (!hasPosted) escaped(sentenceFrom(postMessage, 'posted to parentPort, which is not for transforms'))
      hasPosted = true
    }
    parentPort.postMessage = postMessage
  }
}

/** `by`: what the module called; the frame above it is the author's. */
function sentenceFrom(by: () => void, text: string): ToldError {
  const error = new Error(text)
  Error.captureStackTrace(error, by)
  return { ...tellError(error), text, isSentence: true }
}
