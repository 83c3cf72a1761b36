/** The program of a worker's thread: loads one module and runs its calls, one after the other. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { setSourceMapsSupport } from 'node:module'
import { getHeapStatistics } from 'node:v8'
import { workerData } from 'node:worker_threads'
import type { ThreadData } from '../../threads/thread.ts'
import { BadAnswer, checkAnswer } from './check-answer.ts'
import { createContext, isBaseEdited } from './context.ts'
import { reportError } from './error-report.ts'
import { describeExports, findExport, loadModule, type Namespace } from './exports.ts'
import { createGuards } from './guards.ts'
import { type OpenClawWord, translateResult } from './openclaw.ts'
import { createOutput } from './output.ts'
import { type Reached, refusalIn, refuseOutside, reportNetwork } from './outside.ts'
import type { CallOrder, CurrentCall, ErrorReport, FromWorker, LoadOrder, ToWorker } from './protocol.ts'

start(workerData as ThreadData)

function start(data: ThreadData): void {
  const { port } = data
  for (const name of Object.keys(data)) Reflect.deleteProperty(data, name)
  const post = port.postMessage.bind(port)
  const send = (message: FromWorker) => post(message)
  const calls = new AsyncLocalStorage<CurrentCall>()
  let namespace: Namespace = {}
  let running: number | undefined
  /** Calls that the top level of the module was stopped from making. They concern each call of the module. */
  const whileLoading: Reached[] = []
  /** The reported targets of the running call. */
  const reported = new Set<string>()
  let isReporting = false
  let watchesNetwork = false

  const advise = (word: OpenClawWord) => send({ type: 'advice', word })
  createOutput({ send, current: () => calls.getStore() })
  createGuards({ send, current: () => calls.getStore(), running: () => running })
  // From here on, so that Node.js keeps the maps of modules and not that of this program: 4.5 MB of each thread.
  setSourceMapsSupport(true, { nodeModules: true, generatedCode: true })

  port.on('message', (order: ToWorker) => {
    if (order.type === 'load') void load(order)
    else run(order)
  })

  function stopped(refused: Reached): void {
    if (running === undefined) whileLoading.push(refused)
    else if (isNew(refused)) send({ type: 'reached', call: running, isStopped: true, ...refused })
  }

  function connects(target: string): void {
    if (running === undefined || !watchesNetwork) return
    // A request has named its target, and needs no second name for its connection.
    if (reported.size > 0 && !target.includes('://')) return
    if (isNew({ target })) send({ type: 'reached', call: running, isStopped: false, target })
  }

  function isNew({ target }: Reached): boolean {
    if (reported.size >= maxReported || reported.has(target)) return false
    reported.add(target)
    return true
  }

  async function load({ file, isDry }: LoadOrder): Promise<void> {
    const startedAt = performance.now()
    if (isDry) refuseOutside(stopped)
    try {
      namespace = await loadModule(file)
      const loadMs = performance.now() - startedAt
      send({ type: 'loaded', exports: describeExports(namespace, file), loadMs, memory: memoryInUse() })
    } catch (error) {
      send({ type: 'load-failed', error: errorOf(error) })
    }
  }

  function run(order: CallOrder): void {
    const { call, requestId } = order
    running = call
    reported.clear()
    watchesNetwork = order.watchesNetwork
    if (watchesNetwork && !isReporting) reportNetwork(connects)
    isReporting ||= watchesNetwork
    for (const refused of whileLoading) stopped(refused)
    void calls.run({ call, requestId }, async () => {
      try {
        const context = createContext(order)
        const result = await findExport(namespace, order.exportName)?.(context)
        if (result === undefined && isBaseEdited(context, order))
          throw new BadAnswer(
            'it changed `base` and returned nothing, which changes nothing; return the fields that change',
          )
        const answer = checkAnswer(translateResult(result, advise), order.maxAnswerBytes)
        running = undefined
        send({ type: 'answered', call, answer, memory: memoryInUse() })
      } catch (error) {
        running = undefined
        send({ type: 'failed', call, error: errorOf(error), memory: memoryInUse() })
      }
    })
  }
}

/** Maximum number of targets reported per call. */
const maxReported = 10

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
