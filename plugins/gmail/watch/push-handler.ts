/**
 * Handles notifications in mode `push`. Google posts them, and posts them again until they are answered with success.
 */

import { permanentError, type SourceCall, transientError, unlessAborted } from '@reveille/kit'
import { pushEndpoint } from '../configuration.ts'
import { secondMs } from '../durations.ts'
import { readNotification } from '../google/notification.ts'
import type { NotificationHandler } from './notification-handler.ts'

export type PushHandler = ReturnType<typeof createPushHandler>

/**
 * Google waits for a minute by default, and then posts again. https://cloud.google.com/pubsub/docs/push#receive_push
 */
const maxAnswerMs = 50 * secondMs
const maxAtOnce = 100

/** Registers the handler. @throws PluginError if nothing can be received, as in a process without a gateway */
export function createPushHandler({ receive, clock, signal }: SourceCall) {
  let serving: { readonly handler: NotificationHandler; readonly signal: AbortSignal } | undefined
  let count = 0

  async function take(body: unknown): Promise<void> {
    if (!serving || signal.aborted)
      throw transientError('not-watching', 'The mailbox is not being watched at the moment.')
    if (count >= maxAtOnce)
      throw transientError('busy', 'Too many notifications wait for the mailbox to be read.')
    const { handler } = serving
    const ending = new AbortController()
    const inner = AbortSignal.any([serving.signal, ending.signal])
    count += 1
    const handling = handler.handle([readNotification(body)?.about], inner)
    // The count falls when the mailbox has been read, not when the post is answered, because until then memory is
    // held.
    const giveBack = () => {
      count -= 1
    }
    handling.then(giveBack, giveBack)
    try {
      await Promise.race([
        unlessAborted(handling, inner),
        clock.sleep(maxAnswerMs, inner).then(() => {
          throw transientError('still-reading', 'The mailbox is still being read.')
        }),
      ])
    } catch (error) {
      if (inner.aborted) throw transientError('not-watching', 'The mailbox is not being watched any more.')
      throw error
    } finally {
      ending.abort()
    }
  }

  if (!receive(pushEndpoint, take))
    throw permanentError(
      'no-gateway',
      'Mode `push` needs the gateway, whose address Google posts to: start it, or set `hooks.gmail.mode` to `pull`.',
    )

  return {
    /** Handles posted notifications until the signal is aborted. @throws the reason of the signal */
    async serve(handler: NotificationHandler, until: AbortSignal) {
      serving = { handler, signal: until }
      try {
        await unlessAborted(new Promise<never>(() => {}), until)
      } finally {
        serving = undefined
      }
    },
  }
}
