/** Owns what a module does past its answer: errors that nobody catches, ending its thread, posting to whoever started it. */

import { parentPort } from 'node:worker_threads'
import type { CurrentCall, FromWorker } from './protocol.ts'
import { tellError } from './tell-error.ts'

export interface GuardOptions {
  send(message: FromWorker): void
  /** Whose code runs now. */
  current(): CurrentCall | undefined
  /** The call that has no answer yet. */
  running(): number | undefined
}

export function createGuards({ send, current, running }: GuardOptions): void {
  const escaped = (error: unknown, how: string) => {
    const told = tellError(error)
    const { call, requestId } = current() ?? { call: undefined, requestId: undefined }
    send({ type: 'escaped', call, requestId, error: { ...told, text: `${told.text} (${how})` } })
  }
  // Node tells in whose name the code ran that threw or rejected.
  process.on('uncaughtException', (error) => escaped(error, 'nobody caught it'))
  process.on('unhandledRejection', (reason) => escaped(reason, 'a promise that nobody awaits'))

  const exit = process.exit.bind(process)
  process.exit = (code) => {
    const text = `ended its worker with process.exit(${code ?? ''})`
    // What an earlier call left behind must not end another one: it goes on as an error that nobody catches.
    if (running() !== undefined && running() !== current()?.call) throw new Error(text)
    trespassed(process.exit, text)
    return exit(code)
  }

  /** One is enough: a flood would be the main thread's to read. */
  let hasPosted = false
  if (parentPort !== null) {
    const postMessage = () => {
      if (!hasPosted) trespassed(postMessage, 'posted to parentPort, which is not for transforms')
      hasPosted = true
    }
    parentPort.postMessage = postMessage
  }

  /** `by`: what the module called; the frame above it is the author's. */
  function trespassed(by: () => void, text: string): void {
    const error = new Error(text)
    Error.captureStackTrace(error, by)
    send({ type: 'trespassed', error: { ...tellError(error), text, isSentence: true } })
  }
}
