/** The writer's thread of the embedded store. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { serveWriter } from './writer.ts'

void serveWriter(parentPort as MessagePort, workerData)
