/** Asks a running gateway to try a stored request again, and formats what it answers. */

import path from 'node:path'
import type { Snapshot, Stop } from '@reveille/engine'
import { formatPlace } from '@reveille/engine'
import type { RequestDryRun } from '../../../reload/request-dry-runs.ts'
import { openClient } from '../../client.ts'
import { CommandFailure } from '../../command-failure.ts'
import { placeFrom } from '../../configuration.ts'
import { type Io, paintFor } from '../../io.ts'
import { generationQuery } from '../../records/filters.ts'
import { findOne } from '../../records/records.ts'
import { formatExplanation, type Setting } from './explanation.ts'
import { formatStops, type RequestOptions, type Stopped } from './request.ts'

/** @throws CommandFailure for what is no id */
export function refuseOtherThanId(text: string): void {
  if (/^[0-9a-f-]{4,36}$/i.test(text)) return
  const message = `Name the body with --payload FILE (- reads standard input), or give the id of a request instead of "${text}".`
  throw new CommandFailure(2, message)
}

/** @throws CommandFailure where a request that is not stored is to be tried by another generation */
export function refuseGeneration({ generation }: RequestOptions): void {
  if (generation !== undefined)
    throw new CommandFailure(2, '--generation is for a stored request: give its id, without --payload.')
}

/** @throws CommandFailure where the gateway cannot try it, such as without its body */
export async function askDryRun(id: string, options: RequestOptions, io: Io) {
  refuseOtherThanId(id)
  const client = await openClient(options, io)
  const { generation, callOut } = options
  const body = {
    dryRun: true,
    ...(generation !== undefined && generation !== 'live' && generationQuery(generation)),
    ...(callOut && { callOut }),
  }
  const params = { id: await findOne(client, 'request', id) }
  const dryRun = (await client.ask('replayRequest', { params, body })) as RequestDryRun
  return { dryRun, endpoint: dryRun.explanation.endpoint }
}

/** Returns lines. */
export function formatDryRun(
  endpoint: string,
  { decision, status, explanation, stops }: RequestDryRun,
  options: RequestOptions,
  io: Io,
): string[] {
  const { isForm, ...traces } = explanation
  const tried = { ...traces, endpoint, decision: withActions(decision, traces.actions) }
  const setting = settingFor(io, options.config)
  const lines = formatExplanation(tried as never, status, setting, isForm && ({ isForm } as never))
  return [...lines, ...(stops.length > 0 ? ['', ...formatStops(stops, io)] : [])]
}

/** The line of the outcome names the mappings of the actions. */
function withActions(decision: object, actions: RequestDryRun['explanation']['actions']): object {
  return { ...decision, actions: actions.map(({ mapping }) => ({ mapping })) }
}

export function shownStops(stops: readonly Stop[], { settings }: Snapshot): Stopped[] {
  const folder = path.dirname(settings.file)
  return stops.map(({ module, target, place }) => ({
    module,
    target,
    ...(place && { place: formatPlace(place, folder) }),
  }))
}

/** Places are relative to the folder of the configuration, which is not known for a gateway elsewhere. */
export function settingFor(io: Io, configuration: string | undefined): Setting {
  const folder = configuration === undefined ? undefined : path.dirname(path.resolve(io.cwd, configuration))
  return {
    paint: paintFor(io),
    columns: io.columns,
    placeOf: (place) => (folder === undefined ? place : placeFrom(place, folder, io)),
  }
}
