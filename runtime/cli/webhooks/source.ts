/** `reveille webhooks NAME setup`: has the plugin connect its source, and writes that into the configuration. */

import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Configuration, coversPath } from '@reveille/engine'
import type { Connection, SourceStorage } from '@reveille/kit'
import { stringify } from 'yaml'
import { assumedRoute } from '../../dispatch/index.ts'
import { type Connector, createConnector } from '../../plugin/index.ts'
import { editConfiguration, escapeReferences, type SetEdit } from '../../scaffold/edit-configuration.ts'
import {
  createSharedStorage,
  createSourceClock,
  createSourceStorage,
  sourcesFolder,
} from '../../sources/index.ts'
import { isDatabase } from '../../store/driver-package.ts'
import { openSourceValues } from '../../store/offline-source-values.ts'
import { connectionTo } from '../client.ts'
import { CommandFailure, failure } from '../command-failure.ts'
import { createGatewayView } from '../doctor/gateway-view.ts'
import type { Io } from '../io.ts'
import { shellWord } from '../print.ts'
import { createStopSignal } from '../signals.ts'
import {
  type Configured,
  keyEdits,
  keysAt,
  pathOfSource,
  presetEdit,
  readConfigured,
  writeFiles,
} from './connection-file.ts'
import { createPerson } from './person.ts'
import { type Connected, type Given, perform, type Task, unexpected } from './task.ts'

type SetupOptions = Given & { readonly browser?: boolean }

interface Before extends Configured {
  /** The configured values without invalid ones, which are asked for again. */
  readonly usable: Given
}

/** @returns 1 where it could not be finished; the same command continues from there */
export function connectSource({ name, setup }: Connected, given: Io, options: SetupOptions): Promise<number> {
  const again = `What was done is kept: \`reveille webhooks ${name} setup\` goes on from there.`
  const work = async (task: Task) => {
    const { file, shown, steps, io } = task
    const found = await readConfigured(file, name, io)
    const { settings } = found.configuration
    const connector = await createConnector(name, settings)
    const wrong = new Set(
      connector
        .findProblems(found.source)
        .map(({ key }) => key.slice(connector.key.length + 1).split('.')[0]),
    )
    const usable = Object.fromEntries(Object.entries(found.source).filter(([key]) => !wrong.has(key)))
    const { store, dataDir } = settings.gateway
    const folder = path.join(sourcesFolder(dataDir), name)
    await using shared = isDatabase(store)
      ? await openSourceValues({ location: store, configFile: file })
      : undefined
    const storage = shared ? createSharedStorage(shared)(name, folder) : createSourceStorage(folder)
    const connection = await connect(connector, usable, storage, options, task, again)
    const changed = await writeConnection(name, connection, { ...found, usable }, task)
    const { configuration } = await readConfigured(file, name, io)
    const { warnings, next } = await adviceFor(configuration, connection, io)
    for (const warning of warnings) steps.warn(warning)
    return {
      facts: { ...connection.facts, configuration: { file: shown, changed } },
      lines: [`${connection.subject ?? name} is set up.`, '', ...next],
    }
  }
  return perform(setup.title, given, work, again)
}

async function connect(
  connector: Connector,
  config: Given,
  storage: SourceStorage,
  options: SetupOptions,
  { steps, prompts, io }: Task,
  again: string,
): Promise<Connection> {
  const { browser, ...requested } = options
  const call = new AbortController()
  const stop = createStopSignal({ signals: io.signals })
  void stop.first.then(() => call.abort(failure('Called off.')))
  try {
    return await connector.connect({
      config,
      requested,
      storage,
      fetch: io.fetch,
      clock: createSourceClock(io.now),
      signal: call.signal,
      person: createPerson({ io, prompts, browser: browser !== false }),
      report: steps.report,
    })
  } catch (error) {
    // The person cancelled, so the error of the step under way says nothing new.
    const why = call.signal.aborted ? call.signal.reason : unexpected(error)
    throw why instanceof CommandFailure ? failure(`${why.message} ${again}`, { cause: why }) : why
  } finally {
    stop.close()
  }
}

/**
 * Adds the connection to the file. Existing values stay unchanged, references included. The file is read again, because a consent takes
 * time in which it may have been edited.
 * @throws CommandFailure where it cannot be written; then the file is unchanged
 */
async function writeConnection(
  name: string,
  connection: Connection,
  before: Before,
  { file, shown, steps, io }: Task,
): Promise<boolean> {
  const { preset } = connection
  const editsIn = (text: string) => editsFor(text, name, connection, before)
  const isFirst = Object.keys(before.usable).length === 0
  const isMissing = preset !== undefined && (isFirst || !isMapped(before.configuration, preset))
  const listing = isMissing ? [presetEdit(preset)] : []
  const text = await readFile(file, 'utf8')
  const edit = (each: string) => editConfiguration(each, [...editsIn(each), ...listing])
  const changed = await writeFiles({ file, edit, byHand: linesOf(name, connection) }, io)
  const isWritten = editConfiguration(text, editsIn(text)) !== text
  const key = pathOfSource(name).join('.')
  steps.settle('configuration', isWritten, `Wrote ${key} in ${shown}.`, `${shown} says it already.`)
  if (preset === undefined) return changed
  const isAdded = editConfiguration(text, listing) !== text
  steps.settle('preset', isAdded, `Added ${preset} to hooks.presets in ${shown}.`, 'It need not be added.')
  const { configuration } = await readConfigured(file, name, io)
  // The preset is listed, and serves another endpoint.
  if (!isMapped(configuration, preset))
    steps.warn(`No mapping takes the endpoint ${preset}, where events are posted: they are ignored.`)
  return changed
}

/** Where another mapping takes the endpoint, the preset was left out on purpose. */
function isMapped({ mappings }: Configuration, endpoint: string): boolean {
  return mappings.some(({ value }) => coversPath(value.match?.path, endpoint))
}

/** Leaves out what the file has already, as a value or by a reference. Keys that the source does not have are about its preset, and stay. */
function editsFor(
  text: string,
  name: string,
  connection: Connection,
  { source, usable }: Before,
): readonly SetEdit[] {
  const place = pathOfSource(name)
  const written = keysAt(text, place)
  // As a file can hold it.
  const config = JSON.parse(JSON.stringify(connection.config)) as Given
  const gone = written.filter((key) => Object.hasOwn(source, key) && !Object.hasOwn(config, key))
  const changed = Object.entries(config).filter(
    ([key, value]) => !(written.includes(key) && isDeepStrictEqual(value, usable[key])),
  )
  return keyEdits(place, {
    ...Object.fromEntries(gone.map((key) => [key, undefined])),
    ...(escapeReferences(Object.fromEntries(changed)) as object),
  })
}

/** The lines to write by hand. */
function linesOf(name: string, { config, preset }: Connection): string {
  const hooks = preset !== undefined && { presets: [preset] }
  const [room = '', key = ''] = pathOfSource(name)
  return stringify(
    room === 'hooks' ? { hooks: { ...hooks, [key]: config } } : { hooks, [room]: { [key]: config } },
  )
}

/** Advice on obstacles between the source and an agent, and on a way to test it. */
async function adviceFor({ settings, mappings }: Configuration, { preset, howToTry }: Connection, io: Io) {
  const hasOwnChannel = mappings.some(
    ({ origin, value }) => origin.kind === 'preset' && origin.name === preset && value.channel !== undefined,
  )
  const view = createGatewayView(await connectionTo(settings, io), io)
  const isRunning = (await view.reach()).kind === 'gateway'
  /** True if a running gateway has a last route. */
  const isRouted = async () => (await (await view.admin()).ask('readRoute')).route !== null
  const hasRoute =
    settings.agents.route !== undefined ||
    assumedRoute(settings.channels)?.to !== undefined ||
    hasOwnChannel ||
    (isRunning && (await isRouted().catch(() => false)))
  const isSilent = Object.keys(settings.channels).length === 0
  const noRoute = `Nothing says where replies go: \`reveille route set CHANNEL\`, or agents.route.`
  return {
    warnings: [
      ...(settings.hooks.enabled ? [] : ['hooks.enabled is not true: nothing is taken until it is.']),
      ...(isSilent ? [`There is no channel for replies yet: \`reveille init channel slack\``] : []),
      ...(isSilent || hasRoute ? [] : [noRoute]),
      ...(await ownedByAnother(settings.gateway.dataDir)),
    ],
    /** The next steps, in lines. */
    next: [
      isRunning
        ? `The gateway at ${view.address} takes it up by itself.`
        : `Start the gateway, which runs the source: \`reveille start\``,
      ...(howToTry === undefined ? [] : [`${howToTry}, and see what comes of it: \`reveille runs\``]),
      `The state of the source: \`reveille status\``,
    ],
  }
}

/** Root may set a mailbox up for a gateway that runs as another user. */
async function ownedByAnother(dataDir: string): Promise<string[]> {
  const folder = sourcesFolder(dataDir)
  const [whole, part] = await Promise.all(
    [stat(dataDir), stat(folder)].map((each) => each.catch(() => undefined)),
  )
  if (whole === undefined || part === undefined || whole.uid === part.uid) return []
  return [
    `${folder} does not belong to the owner of the data folder, as whom the gateway may run: \`chown -R ${whole.uid}:${whole.gid} ${shellWord(folder)}\``,
  ]
}
