/**
 * The writer's thread: collects what the main thread posts and runs it in batches.
 *
 * Everything that arrived while a batch was in flight is the next batch. Entries and orders have shares of their own
 * in it, and entries run first: accepting never waits behind a heap of settlements, nor settlements behind entries.
 */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { ExclusiveLock } from '../../../exclusive-lock.ts'
import { releaseMemoryAtRest } from '../../../memory-release.ts'
import { StoreError } from '../../port.ts'
import { isIoError, reasonOf } from '../database/failure.ts'
import { lockFolder, prepareFolder } from '../database/folder.ts'
import type { OnMigration } from '../database/migrate-store.ts'
import { leaveMark, markIn, rescueAtStart } from '../database/rescue.ts'
import { type PlainEntry, readEntries } from '../records/flat-entry.ts'
import type { FromWriter, Order, Post, Rescue, WriterData } from './protocol.ts'
import { type Batch, createWriter, plainError, type Writer } from './writer.ts'

const mostEntries = 256
const mostNotes = 128
const mostOrders = 128

/** For how long a start tries again while the disk fails. Milliseconds. */
const tryForMs = 10_000
const tryEveryMs = 500

const port = parentPort
if (port !== null) start(port, workerData as WriterData)

function start(port: NonNullable<typeof parentPort>, data: WriterData): void {
  const send = (message: FromWriter) => port.postMessage(message)
  let lock: ExclusiveLock | undefined
  let writer: Writer
  try {
    prepareFolder(data.folder)
    lock = lockFolder(data.folder)
    writer = openWriter(data, (migration) => send({ type: 'migrating', migration }))
  } catch (error) {
    lock?.close()
    send({ type: 'failed', error: plainError(openingError(error, data.folder)) })
    return
  }

  let now = 0
  let newest = 0
  /** The number of the newest post that a batch has begun with. */
  let begun = 0
  let entries: PlainEntry[] = []
  let notes: PlainEntry[] = []
  let orders: Order[] = []
  let requests = 0
  let isRescueAsked = false

  const collect = (message: Post | Rescue) => {
    now = message.now
    if ('type' in message) {
      isRescueAsked = true
      return
    }
    const post = message
    newest = post.number
    if (post.entryCount > 0) entries = entries.concat(readEntries(post.entries, post.entryCount))
    if (post.noteCount > 0) notes = notes.concat(readEntries(post.notes, post.noteCount))
    if (post.orders.length > 0) orders = orders.concat(post.orders)
    requests += post.entryCount + post.noteCount
  }

  const collectWaiting = () => {
    for (;;) {
      const waiting = receiveMessageOnPort(port)
      if (waiting === undefined) return
      collect(waiting.message)
    }
  }

  const takeBatch = (all = false): Batch => {
    begun = newest
    const most = (count: number) => (all ? Number.POSITIVE_INFINITY : count)
    return {
      post: newest,
      now,
      entries: entries.splice(0, most(mostEntries)),
      notes: notes.splice(0, most(mostNotes)),
      orders: orders.splice(0, most(mostOrders)),
    }
  }

  const isWaiting = () => newest > begun || entries.length + notes.length + orders.length > 0

  /** Runs what has been collected. Returns whether the store has been closed. */
  const runAll = (): boolean => {
    for (; isWaiting() && !writer.isLost(); collectWaiting()) {
      const batch = takeBatch()
      const reply = writer.run(batch)
      send(reply ?? { type: 'state', state: writer.state() })
      if (reply !== undefined && batch.orders.some(isClose)) return true
    }
    // After the disk has failed everything waits for the rescue, except for the end of the process.
    if (!orders.some(isClose)) return false
    for (const reply of writer.giveUp(takeBatch(true))) send(reply)
    return true
  }

  port.on('message', (message: Post | Rescue) => {
    collect(message)
    collectWaiting()
    let isClosed = runAll()
    // It may have been asked for while batches ran.
    while (isRescueAsked && writer.isLost() && !isClosed) {
      isRescueAsked = false
      send(writer.rescue(now) ?? { type: 'state', state: writer.state() })
      isClosed = runAll()
    }
    if (!isClosed) return
    writer.close()
    lock?.close()
    port.close()
  })
  releaseMemoryAtRest({ requests: () => requests })
  send({ type: 'ready', state: writer.state(), newestAt: writer.newestAt, leftOpen: writer.leftOpen })
}

/** Opens the store, and puts it into a new file first where an outage has left its mark. */
function openWriter(data: WriterData, onMigration: OnMigration): Writer {
  for (const end = performance.now() + tryForMs; ; ) {
    try {
      rescueAtStart(data.folder, data.now)
      return createWriter(data, onMigration)
    } catch (error) {
      if (isIoError(error)) leaveMark(data.folder, { since: data.now, reason: reasonOf(error), commits: 0 })
      if (!(isIoError(error) || markIn(data.folder)) || performance.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, tryEveryMs)
    }
  }
}

function isClose({ type }: Order): boolean {
  return type === 'close'
}

function openingError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError('STORE_UNAVAILABLE', `the data folder ${folder} cannot be used: ${reasonOf(error)}`)
}
