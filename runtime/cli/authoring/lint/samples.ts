/** Owns the payloads that `lint --samples` reads: a folder for each endpoint, as recorded bodies are kept. */

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { LintSample } from '@reveille/engine'
import { CommandFailure } from '../../command-failure.ts'
import type { Io } from '../../io.ts'

const headersEnding = '.headers.json'

/**
 * `<folder>/<endpoint>/<any name>.json`, or `<folder>/<endpoint>.json`. Where `<any name>.headers.json` stands beside
 * one, those are its headers.
 *
 * @throws CommandFailure (bad usage) for a folder that is not there and a file that is no JSON
 */
export async function readSamples(folder: string, io: Io): Promise<readonly LintSample[]> {
  const root = path.resolve(io.cwd, folder)
  if (!existsSync(root)) throw new CommandFailure(2, `There is no folder ${folder}.`)
  const names = await readdir(root, { recursive: true })
  const files = names.filter((name) => name.endsWith('.json') && !name.endsWith(headersEnding)).sort()
  if (files.length === 0)
    throw new CommandFailure(2, `${folder} holds no payload; they are <endpoint>/<name>.json.`)
  return Promise.all(files.map((file) => readSample(root, file, folder)))
}

async function readSample(root: string, file: string, folder: string): Promise<LintSample> {
  const name = file.slice(0, -'.json'.length)
  const parent = path.dirname(name)
  const endpoint = (parent === '.' ? name : parent).replaceAll('\\', '/')
  const beside = `${name}${headersEnding}`
  const payload = await readJson(root, file, folder)
  if (!existsSync(path.join(root, beside))) return { endpoint, payload }
  const headers = (await readJson(root, beside, folder)) as Readonly<Record<string, string>>
  return { endpoint, payload, headers }
}

async function readJson(root: string, file: string, folder: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path.join(root, file), 'utf8'))
  } catch (cause) {
    throw new CommandFailure(2, `${path.join(folder, file)} is no JSON.`, { cause })
  }
}
