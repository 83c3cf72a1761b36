/**
 * The program of a worker's thread: loads one module and runs its calls, one after the other.
 *
 * A module may replace any global, so everything that is needed afterwards is taken from the globals before it is loaded.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { setSourceMapsSupport } from 'node:module'
import { getHeapStatistics } from 'node:v8'
import { workerData } from 'node:worker_threads'
import type { ThreadData } from '../../threads/thread.ts'
import { createContext, isBaseEdited } from './context.ts'
import { reportError } from './error-report.ts'
import { describeExports, findExport, loadModule, type Namespace } from './exports.ts'
import { createGuards } from './guards.ts'
import { createNetworkWatch } from './network.ts'
import { type OpenClawWord, translateResult } from './openclaw.ts'
import { createOutput } from './output.ts'
import {
  type CallOrder,
  type CurrentCall,
  type ErrorReport,
  type FromWorker,
  type LoadOrder,
  phases,
  slots,
  type ToWorker,
} from './protocol.ts'
import { type Refused, refusalIn, refuseOutside } from './refusals.ts'
import { BadAnswer, writeAnswer } from './write-answer.ts'

start(workerData as ThreadData)

function start(data: ThreadData): void {
  const { port, shared } = data
  for (const name of Object.keys(data)) Reflect.deleteProperty(data, name)
  const { compareExchange } = Atomics
  const clock = performance.now.bind(performance)
  const post = port.postMessage.bind(port)
  const send = (message: FromWorker) => post(message)
  const calls = new AsyncLocalStorage<CurrentCall>()
  let namespace: Namespace = {}
  let running: number | undefined
  /** Calls that the top level of the module was stopped from making. They concern each call of the module. */
  const whileLoading: Refused[] = []
  /** Number of reported refusals of the running call. */
  let reported = 0

  const advise = (word: OpenClawWord) => send({ type: 'advice', word })
  const network = createNetworkWatch((target) => {
    if (running !== undefined) send({ type: 'reached', call: running, target, isStopped: false })
  })
  createOutput({ send, shared, current: () => calls.getStore() })
  createGuards({ send, current: () => calls.getStore(), running: () => running })
  // From here on, so that Node.js keeps the maps of modules and not that of this program: 4.5 MB of each thread.
  setSourceMapsSupport(true, { nodeModules: true, generatedCode: true })

  port.on('message', (order: ToWorker) => {
    if (order.type === 'load') void load(order)
    // A call that was taken back runs in another worker.
    else if (compareExchange(shared, slots.phase, phases.posted, phases.begun) === phases.posted) run(order)
  })

  function stopped(refused: Refused): void {
    if (reported++ >= maxRefusals) return
    if (running === undefined) whileLoading.push(refused)
    else send({ type: 'reached', call: running, isStopped: true, ...refused })
  }

  async function load({ file, isDry }: LoadOrder): Promise<void> {
    const startedAt = clock()
    if (isDry) refuseOutside(stopped)
    try {
      namespace = await loadModule(file)
      const loadMs = clock() - startedAt
      send({ type: 'loaded', exports: describeExports(namespace, file), loadMs, memory: memoryInUse() })
    } catch (error) {
      send({ type: 'load-failed', error: errorOf(error) })
    }
  }

  function run(order: CallOrder): void {
    const { call, requestId } = order
    running = call
    reported = 0
    for (let index = 0; index < whileLoading.length; index++) stopped(whileLoading[index] as Refused)
    if (order.watchesNetwork) network.begin()
    void calls.run({ call, requestId }, async () => {
      try {
        const context = createContext(order)
        const result = await findExport(namespace, order.exportName)?.(context)
        if (result === undefined && isBaseEdited(context, order))
          throw new BadAnswer(
            'it changed `base` and returned nothing, which changes nothing; return the fields that change',
          )
        const answer = writeAnswer(translateResult(result, advise), order.maxAnswerBytes)
        running = undefined
        network.end()
        send({ type: 'answered', call, answer, memory: memoryInUse() })
      } catch (error) {
        running = undefined
        network.end()
        send({ type: 'failed', call, error: errorOf(error), memory: memoryInUse() })
      }
    })
  }
}

/** Maximum number of refusals reported per call. */
const maxRefusals = 10

function errorOf(error: unknown): ErrorReport {
  if (error instanceof BadAnswer)
    return { text: `answered what cannot be used: ${error.message}`, isSentence: true }
  const refusal = refusalIn(error)
  if (refusal === undefined) return reportError(error)
  // A package may have wrapped the refusal in an error of its own; the refusal has the author's line.
  const { stack, place } = reportError(refusal)
  return {
    text: `was stopped: ${refusal.message}`,
    isSentence: true,
    stoppedAt: refusal.target,
    ...(stack !== undefined && { stack }),
    ...(place && { place }),
  }
}

/** Bytes, buffers included. Takes 3 us. */
function memoryInUse(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
