/** The embedded store: one folder, a writer's thread, a reader's thread, and what is answered from memory. */

import type { EventEmitter } from 'node:events'
import { Worker } from 'node:worker_threads'
import { programFile, threadEnvironment } from '@reveille/engine'
import { type Store, StoreError, type StoreOptions } from '../port.ts'
import type { Opened } from '../protocol.ts'
import { assembleStore, type Engine, type Handlers } from '../store.ts'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'
import { createReaderClient, type ReaderClient } from './reader-client.ts'
import { createSingleNode } from './single-node.ts'

/** The main thread's side of the writer, as far as it is used. */
export type WriterThread = Pick<EventEmitter, 'on' | 'once' | 'removeAllListeners'> & {
  postMessage(message: ToWriter): void
  unref(): void
}

/** Starts the two threads. Tests of the store itself run both in their own thread, as starting one takes longer than most of them. */
export interface Threads {
  startWriter(data: WriterData): WriterThread
  startReader(folder: string): ReaderClient
}

export const ownThreads: Threads = {
  startWriter: (workerData) =>
    new Worker(programFile('./sqlite-writer.ts', import.meta.url), {
      workerData,
      name: 'store writer',
      env: threadEnvironment(),
    }),
  startReader: createReaderClient,
}

/** @throws StoreError */
export async function openSqliteStore(options: StoreOptions, threads = ownThreads): Promise<Store> {
  return await assembleStore(options, async (handlers) => {
    const cluster = createSingleNode(options)
    const { worker, opened } = await startWriter(options, cluster.node, threads)
    const engine = connect(worker, threads.startReader(options.location), handlers)
    return { engine: { ...engine, cluster }, opened }
  })
}

function connect(worker: WriterThread, reader: ReaderClient, handlers: Handlers): Omit<Engine, 'cluster'> {
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const asked: (() => void)[] = []
  let isClosing = false
  const send = (message: ToWriter) => worker.postMessage(message)

  worker.on('message', (message: FromWriter) => {
    if (message.type === 'reply') handlers.onReply(message.reply)
    else if (message.type === 'happened') handlers.onHappened(message.happened)
    else if (message.type === 'done') asked.shift()?.()
  })
  worker.on('error', (error) => handlers.onStopped(error))
  worker.on('exit', (code) => {
    for (const resolve of asked.splice(0)) resolve()
    if (!isClosing) handlers.onStopped(new Error(`its thread ended with the code ${code}`))
  })

  return {
    maxActions: 512,
    post: (post) => send({ type: 'post', post }),
    ask: reader.ask,
    watch(isIdle) {
      // An idle writer would not notice by itself that its files are gone.
      if (isIdle) send({ type: 'check-files' })
    },
    async rescue(now) {
      // Nobody holds a connection to the old file.
      await reader.suspend()
      await new Promise<void>((resolve) => {
        asked.push(resolve)
        send({ type: 'rescue', now })
      })
    },
    resume: () => reader.resume(),
    async close() {
      isClosing = true
      // The writer is the last to close, and takes the log into the database.
      await reader.close()
      send({ type: 'close' })
      await exited
    },
    abandon: () => worker.unref(),
  }
}

function startWriter(
  options: StoreOptions,
  node: string,
  threads: Threads,
): Promise<{ readonly worker: WriterThread; readonly opened: Opened }> {
  const { location, keepMs, backlog, sessionIdleMs, maxBodyBytes, ignoredBodiesMs, maxWithoutEffect } =
    options
  const limits = { keepMs, backlog, sessionIdleMs, maxBodyBytes, ignoredBodiesMs, maxWithoutEffect }
  const { historyMessages, now } = options
  const worker = threads.startWriter({ folder: location, node, now: now(), limits, historyMessages })
  return new Promise((resolve, reject) => {
    worker.once('error', (error) =>
      reject(new StoreError('STORE_UNAVAILABLE', 'the writer did not start', { cause: error })),
    )
    worker.once('message', (message: FromWriter) => {
      worker.removeAllListeners('error')
      if (message.type === 'opened') resolve({ worker, opened: message })
      if (message.type !== 'failed') return
      const { code, message: text, brief } = message.error
      // The folder is unlocked only when the thread is gone.
      worker.once('exit', () => reject(new StoreError(code, text, { brief })))
    })
  })
}
