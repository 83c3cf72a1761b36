/** This is the program of the thread that parses changed files, so that the gateway's own thread never waits for one. */

import { parentPort } from 'node:worker_threads'
import { parseText, type WrittenText } from './parse-text.ts'

parentPort?.on('message', (written: WrittenText) => {
  const parsed = parseText(written)
  parentPort?.postMessage(parsed, 'nodes' in parsed ? [parsed.nodes.buffer as ArrayBuffer] : [])
})
