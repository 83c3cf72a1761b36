/** This is the program of the thread that parses changed files, so that the gateway's own thread never waits for one. */

import { workerData } from 'node:worker_threads'
import type { ThreadData } from '../../threads/thread.ts'
import { parseText, type WrittenText } from './parse-text.ts'

const { port } = workerData as ThreadData

port.on('message', (written: WrittenText) => {
  const parsed = parseText(written)
  port.postMessage(parsed, 'nodes' in parsed ? [parsed.nodes.buffer as ArrayBuffer] : [])
})
