/** The writer's thread of a store whose disk fails as a test asks for it. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { serveWriter } from '../../sqlite/writer.ts'
import { createFaultyDisk } from './faulty-disk.ts'

const port = parentPort as MessagePort
const disk = createFaultyDisk()
port.on('message', (message) => {
  if (message.type === 'fault') disk.ask(message.fault)
})
void serveWriter(port, workerData, disk)
