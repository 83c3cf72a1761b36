/** What the writer's thread of the embedded store does: it runs the core, one post after the other. */

import type { MessagePort } from 'node:worker_threads'
import type { ExclusiveLock } from '../../exclusive-lock.ts'
import { type Core, createCore } from '../core.ts'
import { plainError } from '../driver-error.ts'
import { StoreError } from '../port.ts'
import { type Action, nothingHappened, type Opened, type Post } from '../protocol.ts'
import { migrate } from '../schema.ts'
import { createEmbeddedDriver, type EmbeddedDriver, type EmbeddedDriverOptions } from './driver.ts'
import { isIoError, reasonOf } from './failure.ts'
import { lockFolder, prepareFolder } from './folder.ts'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'
import { leaveMark, markIn, rescueAtStart } from './rescue.ts'

/** For how long a start tries again while the disk fails. Milliseconds. */
const tryForMs = 10_000
const tryEveryMs = 500

/** Opens the store, and serves the messages of its main thread until the last one closes it. `disk` is only for tests. */
export async function serveWriter(
  port: MessagePort,
  data: WriterData,
  disk?: Pick<EmbeddedDriverOptions, 'commit'>,
): Promise<void> {
  const send = (message: FromWriter) => port.postMessage(message)
  let now = data.now
  let lock: ExclusiveLock | undefined
  let writer: Awaited<ReturnType<typeof openWriter>>
  try {
    prepareFolder(data.folder)
    lock = lockFolder(data.folder)
    writer = await openWriter(data, { ...disk, now: () => now, onFailure: () => report() })
  } catch (error) {
    lock?.close()
    send({ type: 'failed', error: plainError(openingError(error, data.folder)) })
    port.close()
    return
  }
  const { core, driver, opened } = writer
  let running: Promise<unknown> = Promise.resolve()

  /** Tells the main thread of a state that no reply brings. */
  function report(): void {
    send({ type: 'happened', happened: { ...nothingHappened, state: core.state() } })
  }

  async function run(post: Post): Promise<void> {
    const reply = await core.run(post)
    if (post.actions.some(isAboutOutage) && reply.state.writable) driver.endOutage()
    send({ type: 'reply', reply: { ...reply, state: core.state() } })
  }

  async function close(): Promise<void> {
    await running
    await driver.close()
    lock?.close()
    port.close()
  }

  port.on('message', (message: ToWriter) => {
    switch (message.type) {
      case 'post':
        running = running.then(() => {
          now = message.post.now
          return run(message.post)
        })
        break
      case 'check-files':
        running = running.then(() => {
          if (core.checkDisk(driver.checkFiles)) report()
        })
        break
      case 'rescue':
        now = message.now
        driver.rescue()
        report()
        send({ type: 'done' })
        break
      case 'close':
        driver.giveUp()
        void close()
    }
  })
  send({ type: 'opened', ...opened })
}

/** Opens the store, and puts it into a new file first where an outage has left its mark. */
async function openWriter(
  data: WriterData,
  options: EmbeddedDriverOptions,
): Promise<{ readonly core: Core; readonly driver: EmbeddedDriver; readonly opened: Opened }> {
  const { folder, node, limits, historyMessages } = data
  for (const end = performance.now() + tryForMs; ; ) {
    try {
      rescueAtStart(folder, data.now)
      const driver = createEmbeddedDriver(folder, options)
      await migrate(driver)
      const core = createCore({
        driver,
        node,
        now: data.now,
        limits,
        historyMessages,
        times: { renewMs: 0, expireMs: 0, freshMs: 0 },
        diskHealth: driver.health,
        onHappened: () => undefined,
      })
      return { core, driver, opened: await core.open() }
    } catch (error) {
      if (isIoError(error)) leaveMark(folder, { since: data.now, reason: reasonOf(error), commits: 0 })
      if (!(isIoError(error) || markIn(folder)) || performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, tryEveryMs))
    }
  }
}

/** With this on the disk, the mark of an outage has done its work. */
function isAboutOutage(action: Action): boolean {
  if (action.type !== 'command' || action.command.type !== 'issues') return false
  return action.command.changes.some((change) => 'code' in change && change.code === 'DISK_LOST_WRITES')
}

function openingError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError('STORE_UNAVAILABLE', `the data folder ${folder} cannot be used: ${reasonOf(error)}`)
}
