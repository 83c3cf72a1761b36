/** `reveille tail`: follows the requests of a running gateway, as the terminal of `start` does, and explains those that did nothing. */

import type { CandidateTrace } from '@reveille/engine'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { ItemOf } from '../../api/routes/client.ts'
import { createPrettyStream } from '../../observe/pretty.ts'
import { formatClause } from '../authoring/clause.ts'
import { type Client, openClient } from '../client.ts'
import { CommandFailure } from '../command-failure.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { counted } from '../print.ts'
import { createStopSignal } from '../signals.ts'

type RequestItem = ItemOf<'listRequests'>

/** The part of a frame of `GET /api/stream` that is shown. */
interface Frame {
  readonly requests?: readonly RequestItem[]
  /** The number of requests since the last frame that were left out. */
  readonly skipped?: number
}

/** Waits between attempts to connect again. Milliseconds. */
const firstPauseMs = 1000
const maxPauseMs = 15_000
/** A trace is stored a moment after its request. Milliseconds. */
const traceDelayMs = 400
/** Maximum number of requests in one frame that are explained. */
const maxExplained = 10
/** Maximum number of mappings that are listed as not matching a request. */
const maxShownCandidates = 3

/** A gateway's frames are far shorter; any other server must not fill the memory. UTF-16 units. */
const maxEventLength = 8_388_608

/** Runs until it is stopped. @throws CommandFailure if the gateway cannot be reached at first, or refuses the token */
export async function tail(io: Io, options: CommandOptions): Promise<number> {
  const client = await openClient(io)
  const show = createFramePrinter(client, io, options)
  const stop = createStopSignal({ signals: io.signals })
  const stopped = new AbortController()
  void stop.first.then(() => stopped.abort())
  let lastId: string | undefined
  let pauseMs = firstPauseMs
  let wasConnected = false
  try {
    while (!stopped.signal.aborted) {
      try {
        const body = await client.stream(lastId, stopped.signal)
        if (!io.json)
          io.err(wasConnected ? 'Connected again.\n' : `Requests of ${client.address} from now on:\n`)
        wasConnected = true
        const events = new EventSourceParserStream({ maxBufferSize: maxEventLength })
        for await (const { event, data, id } of body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(events)) {
          pauseMs = firstPauseMs
          lastId = id ?? lastId
          if (event === 'gap') io.err('Some requests are missing here: the gateway no longer had them.\n')
          else if (event === 'frame') await show(JSON.parse(data) as Frame)
        }
      } catch (error) {
        if (stopped.signal.aborted) break
        if (!wasConnected || (error instanceof CommandFailure && error.cause === undefined)) throw error
      }
      if (stopped.signal.aborted) break
      io.err(`The gateway at ${client.address} is gone; trying again in ${pauseMs / 1000} s.\n`)
      await Promise.race([io.pause(pauseMs), stop.first])
      pauseMs = Math.min(pauseMs * 2, maxPauseMs)
    }
  } finally {
    stop.close()
  }
  return 0
}

function createFramePrinter(client: Client, io: Io, { endpoint, ignored = false }: CommandOptions) {
  const paint = paintFor(io)
  const colour = io.columns !== undefined && !io.env['NO_COLOR']
  const pretty = createPrettyStream({ write: io.out, ...(io.columns && { columns: io.columns }) }, { colour })

  function isShown(request: RequestItem): boolean {
    return (
      (endpoint === undefined || request.endpoint === endpoint) && (!ignored || request.outcome === 'ignored')
    )
  }

  /** The clauses because of which mappings did not match, beneath the line of the request. */
  async function showWhy({ id }: RequestItem): Promise<void> {
    const candidates = (await traceOf(id)) ?? (await io.pause(traceDelayMs).then(() => traceOf(id))) ?? []
    const failed = candidates.filter(({ clause }) => clause !== undefined)
    const indent = ' '.repeat(12)
    for (const { mapping, clause } of failed.slice(0, maxShownCandidates)) {
      io.out(`${indent}${paint.red('✗')} ${mapping}\n`)
      for (const line of clause ? formatClause(clause) : []) io.out(`${indent}  ${paint.dim(line)}\n`)
    }
    const more = failed.length - maxShownCandidates
    if (more > 0) io.out(`${indent}  ${paint.dim(`and ${counted(more, 'more mapping')}`)}\n`)
  }

  async function traceOf(id: string): Promise<readonly CandidateTrace[] | undefined> {
    const record = await client.ask('readRequest', { params: { id } }).catch(() => undefined)
    return (record?.trace as { readonly candidates?: readonly CandidateTrace[] } | undefined)?.candidates
  }

  return async function show({ requests = [], skipped = 0 }: Frame): Promise<void> {
    const shown = requests.filter(isShown)
    let explained = 0
    for (const request of shown) {
      if (io.json) {
        io.out(`${JSON.stringify(request)}\n`)
        continue
      }
      pretty.write(JSON.stringify(factsOf(request)))
      const hasTrace = request.outcome === 'ignored' || request.outcome === 'failed'
      if (!hasTrace || explained >= maxExplained) continue
      explained += 1
      await showWhy(request)
    }
    if (skipped > 0)
      io.err(
        `… and ${counted(skipped, 'more request')} that came at once; \`reveille requests\` lists them.\n`,
      )
  }
}

/** The log line that `start` prints for a request. */
function factsOf(request: RequestItem): object {
  const { id, outcome, receivedAt, code } = request
  const level = outcome === 'failed' && code !== 'TRANSFORM_REFUSED' ? 50 : 30
  const time = new Date(receivedAt).toISOString()
  return { ...request, level, time, event: `request-${outcome}`, requestId: id }
}
