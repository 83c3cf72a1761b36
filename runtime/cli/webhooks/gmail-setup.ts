/** `reveille webhooks gmail setup`: connects a mailbox, and writes it into the configuration. */

import path from 'node:path'
import {
  type Connection,
  isPluginError,
  numberOf,
  oneLine,
  recordOf,
  type SourceStorage,
  textOf,
} from '@reveille/kit'
import { type Connector, connectorOf, PluginSetupError } from '../../plugin/index.ts'
import {
  createSharedStorage,
  createSourceClock,
  createSourceStorage,
  sourcesFolder,
} from '../../sources/index.ts'
import { isDatabase } from '../../store/driver-package.ts'
import { openSourceValues } from '../../store/offline-source-values.ts'
import { StoreError } from '../../store/port.ts'
import { CommandFailure, storeFailure } from '../command-failure.ts'
import { configWords, findConfiguration, shownPath } from '../configuration.ts'
import { type Io, paintFor, wrapText } from '../io.ts'
import { pasted } from '../pasted.ts'
import type { Prompts } from '../prompts.ts'
import { createStopSignal } from '../signals.ts'
import { type Advice, adviceFor } from './advice.ts'
import { readConfigured } from './configured.ts'
import { createPerson } from './person.ts'
import { ask, type Known } from './questions.ts'
import { type GmailSetupOptions, wantedOf } from './setup-options.ts'
import { createSteps, type Steps } from './steps.ts'
import { writeConnection } from './write.ts'

type Values = Readonly<Record<string, unknown>>

/** @returns 1 where it could not be finished; the same command continues from there */
export async function setUpGmail(options: GmailSetupOptions, given: Io): Promise<number> {
  const { json = false } = options
  const prompts = json ? undefined : await given.prompts?.()
  const steps = createSteps(given, prompts, json)
  let io = given
  try {
    const wanted = await wantedOf(options, given)
    const file = findConfiguration(options, given)
    const shown = shownPath(file, given)
    // Commands to be pasted name the file that was found.
    const { config: _config, ...rest } = given
    io = configWords(file, given) === '' ? rest : { ...given, config: shown }
    prompts?.begin('Gmail')
    const task = { file, wanted, options, json, prompts, steps }
    reportDone(await setUp(task, io), shown, task, io)
    return 0
  } catch (error) {
    const { code, message, exitCode } = setupFailure(error, io)
    if (json) io.out(`${JSON.stringify({ ok: false, code, message, steps: steps.all }, null, 2)}\n`)
    else io.err(`${prompts === undefined ? '' : '\n'}${wrapText(message, io)}\n`)
    return exitCode
  }
}

interface Task {
  readonly file: string
  readonly wanted: Values
  readonly options: GmailSetupOptions
  readonly json: boolean
  readonly prompts: Prompts | undefined
  readonly steps: Steps
}

async function setUp({ file, wanted, options, prompts, steps }: Task, io: Io): Promise<Done> {
  const found = await readConfigured(file, io)
  const { settings } = found.configuration
  const connector = await connectorOf('gmail', settings)
  const configured = { ...found, mailbox: usable(found.mailbox, connector) }
  const { store, dataDir } = settings.gateway
  const folder = path.join(sourcesFolder(dataDir), 'gmail')
  await using shared = isDatabase(store)
    ? await openSourceValues({ location: store, configFile: file })
    : undefined
  const storage = shared ? createSharedStorage(shared)('gmail', folder) : createSourceStorage(folder)
  const known = { wanted, config: configured.mailbox, ...(await knownBefore(storage)) }
  const asked = prompts === undefined ? wanted : await ask(prompts, { ...known, ...connector }, io)
  const connection = await connect(asked)
  const { changed } = await writeConnection(file, connection, configured, steps, io)
  const { configuration } = await readConfigured(file, io)
  const advice = await adviceFor(configuration, connection, io)
  for (const warning of advice.warnings) steps.warn(warning)
  return { mailbox: connection.config, watchEnds: await watchEndOf(storage), changed, advice }

  async function connect(wanted: Values): Promise<Connection> {
    const call = new AbortController()
    const stop = createStopSignal({ signals: io.signals })
    void stop.first.then(() => call.abort(cancelled(io)))
    const person = createPerson({
      io,
      prompts,
      browser: options.browser !== false,
      cancel: () => call.abort(cancelled(io)),
    })
    try {
      return await connector.connect({
        config: configured.mailbox,
        wanted,
        storage,
        fetch: io.fetch,
        clock: createSourceClock(io.now),
        signal: call.signal,
        person,
        report: steps.report,
      })
    } catch (error) {
      // The person cancelled, so the error of the step under way says nothing new.
      if (call.signal.aborted) throw call.signal.reason
      throw isPluginError(error) ? error : unexpected(error)
    } finally {
      stop.close()
    }
  }
}

/** The configured values without invalid ones, which are asked for again. */
function usable(mailbox: Values, { examine }: Connector): Values {
  const wrong = new Set(examine(mailbox).map(({ key }) => key.split('.')[2]))
  return Object.fromEntries(Object.entries(mailbox).filter(([key]) => !wrong.has(key)))
}

/** What an earlier run has stored, which may not have finished. */
async function knownBefore(storage: SourceStorage): Promise<Pick<Known, 'hasClient' | 'account'>> {
  const [client, credentials] = await Promise.all(
    ['client', 'credentials'].map((name) => readOrNothing(storage, name)),
  )
  return {
    hasClient: client !== undefined || credentials !== undefined,
    account: textOf(recordOf(credentials)?.['account']),
  }
}

async function watchEndOf(storage: SourceStorage): Promise<number | undefined> {
  const cursor = recordOf(await readOrNothing(storage, 'cursor'))
  return numberOf(recordOf(cursor?.['watch'])?.['endsAt'])
}

/** A damaged entry counts as missing, and is asked for again. */
function readOrNothing(storage: SourceStorage, name: string): Promise<unknown> {
  return storage.read(name).catch(() => undefined)
}

interface Done {
  readonly mailbox: Readonly<Record<string, unknown>>
  /** Milliseconds since the Unix epoch; absent where the plugin has not stored it. */
  readonly watchEnds: number | undefined
  readonly changed: boolean
  readonly advice: Advice
}

function reportDone(
  { mailbox, watchEnds, changed, advice }: Done,
  shown: string,
  { json, prompts, steps }: Pick<Task, 'json' | 'prompts' | 'steps'>,
  io: Io,
): void {
  const { account, topic, subscription, label, mode = 'pull' } = mailbox
  if (json) {
    const answer = {
      ok: true,
      account,
      project: /^projects\/([^/]+)\//.exec(String(topic))?.[1],
      topic,
      subscription,
      label: label ?? 'INBOX',
      mode,
      watchEnds,
      steps: steps.all,
      warnings: steps.warnings,
      configuration: { file: shown, changed },
    }
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
    return
  }
  const lines = [`${account} is set up.`, '', ...advice.next]
  if (prompts === undefined) io.out(`${lines.join('\n')}\n`)
  else {
    prompts.note(lines.join('\n'))
    prompts.end(paintFor(io).green('Done.'))
  }
}

/** @throws an error of another kind, which is a fault of the program */
function setupFailure(error: unknown, io: Io) {
  if (error instanceof CommandFailure) {
    return { code: 'failed', message: error.message, exitCode: error.exitCode }
  }
  if (error instanceof StoreError) {
    return { code: error.code, message: storeFailure(error).message, exitCode: 1 }
  }
  if (error instanceof PluginSetupError) return { code: error.code, message: error.message, exitCode: 1 }
  if (!isPluginError(error)) throw error
  const again = `What was done is kept: ${pasted('webhooks gmail setup', io)} goes on from there.`
  return { code: error.code, message: `${error.message}\n${again}`, exitCode: 1 }
}

/** An unexpected error without its stack, which does not help the person who sets a mailbox up. */
function unexpected(error: unknown): CommandFailure {
  const why = error instanceof Error ? error.message : String(error)
  return new CommandFailure(1, `It failed unexpectedly: ${oneLine(why, 300)}`, { cause: error })
}

function cancelled(io: Io): CommandFailure {
  return new CommandFailure(
    1,
    `Called off. What was done is kept: ${pasted('webhooks gmail setup', io)} goes on from there.`,
  )
}
