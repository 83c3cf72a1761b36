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
import { reasonOf } from '../database/failure.ts'
import { lockFolder, prepareFolder } from '../database/folder.ts'
import { type PlainEntry, readEntries } from '../records/flat-entry.ts'
import type { FromWriter, Order, Post, WriterData } from './protocol.ts'
import { createWriter, plainError, type Writer } from './writer.ts'

const mostEntries = 256
const mostNotes = 128
const mostOrders = 128

const port = parentPort
if (port !== null) start(port, workerData as WriterData)

function start(port: NonNullable<typeof parentPort>, data: WriterData): void {
  const send = (message: FromWriter) => port.postMessage(message)
  let lock: ExclusiveLock | undefined
  let writer: Writer
  try {
    prepareFolder(data.folder)
    lock = lockFolder(data.folder)
    writer = createWriter(data, (migration) => send({ type: 'migrating', migration }))
  } catch (error) {
    lock?.close()
    send({ type: 'failed', error: plainError(openingError(error, data.folder)) })
    return
  }

  let now = 0
  let newest = 0
  let entries: PlainEntry[] = []
  let notes: PlainEntry[] = []
  let orders: Order[] = []
  let requests = 0

  const collect = (post: Post) => {
    now = post.now
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

  port.on('message', (post: Post) => {
    collect(post)
    do {
      collectWaiting()
      const batch = {
        post: newest,
        now,
        entries: entries.splice(0, mostEntries),
        notes: notes.splice(0, mostNotes),
        orders: orders.splice(0, mostOrders),
      }
      send(writer.run(batch))
      if (batch.orders.some((order) => order.type === 'close')) {
        writer.close()
        lock?.close()
        port.close()
        return
      }
    } while (entries.length + notes.length + orders.length > 0)
  })
  releaseMemoryAtRest({ requests: () => requests })
  send({ type: 'ready', state: writer.state(), newestAt: writer.newestAt, leftOpen: writer.leftOpen })
}

function openingError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError('STORE_UNAVAILABLE', `the data folder ${folder} cannot be used: ${reasonOf(error)}`)
}
