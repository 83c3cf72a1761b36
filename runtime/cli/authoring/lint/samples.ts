/** Reads the payloads of `lint --samples`: a folder for each endpoint, as recorded bodies are kept. */

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { LintSample } from '@reveille/engine'
import { parseJson } from '@reveille/kit'
import { CommandFailure } from '../../command-failure.ts'
import type { Io } from '../../io.ts'
import { readRequestFile } from '../../request-file.ts'

const headersEnding = '.headers.json'

/**
 * `<folder>/<endpoint>/<any name>.json`, or `<folder>/<endpoint>.json`. Where `<any name>.headers.json` stands beside
 * one, those are its headers. A file `*.http` is a whole HTTP message, its body JSON.
 *
 * @throws CommandFailure (bad usage) for a folder that is not there and a file that is no JSON
 */
export async function readSamples(folder: string, io: Io): Promise<readonly LintSample[]> {
  const root = path.resolve(io.cwd, folder)
  if (!existsSync(root)) throw new CommandFailure(2, `There is no folder ${folder}.`)
  const names = await readdir(root, { recursive: true })
  const files = names.filter((name) => /\.(json|http)$/.test(name) && !name.endsWith(headersEnding)).sort()
  if (files.length === 0)
    throw new CommandFailure(2, `${folder} holds no payload; they are <endpoint>/<name>.json or .http.`)
  return Promise.all(
    files.map((file) =>
      file.endsWith('.http') ? readMessage(root, file, io) : readSample(root, file, folder),
    ),
  )
}

async function readMessage(root: string, file: string, io: Io): Promise<LintSample> {
  const { headers, rawBody } = await readRequestFile(path.join(root, file), io)
  const payload = parsed(Buffer.from(rawBody).toString('utf8'), `The body of ${file}`)
  return { endpoint: endpointOf(file.slice(0, -'.http'.length)), payload, headers }
}

/** The endpoint is named by the folder of a file, else by the file itself. */
function endpointOf(name: string): string {
  const parent = path.dirname(name)
  return (parent === '.' ? name : parent).replaceAll('\\', '/')
}

async function readSample(root: string, file: string, folder: string): Promise<LintSample> {
  const name = file.slice(0, -'.json'.length)
  const endpoint = endpointOf(name)
  const beside = `${name}${headersEnding}`
  const payload = await readJson(root, file, folder)
  if (!existsSync(path.join(root, beside))) return { endpoint, payload }
  const headers = (await readJson(root, beside, folder)) as Readonly<Record<string, string>>
  return { endpoint, payload, headers }
}

async function readJson(root: string, file: string, folder: string): Promise<unknown> {
  return parsed(await readFile(path.join(root, file), 'utf8'), path.join(folder, file))
}

function parsed(text: string, name: string): unknown {
  const value = parseJson(text)
  if (value === undefined) throw new CommandFailure(2, `${name} is no JSON.`)
  return value
}
