/** `reveille lint`: finds what a configuration that compiles probably does not mean. */

import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Diagnostic, inFileOrder, type LintSample, lintConfiguration } from '@reveille/engine'
import { lintCodes, nearestName } from '@reveille/engine/text'
import { parseJson } from '@reveille/kit'
import { badUsage } from '../../command-failure.ts'
import { findConfiguration, load, reportDiagnostics, reportUnset } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { readRequestFile } from '../../request-file.ts'
import { withCompiled } from '../compile.ts'

export async function lint(io: Io, options: CommandOptions): Promise<number> {
  const allowed = checkCodes(options.allow ?? [])
  const file = findConfiguration(io)
  const samples = options.samples === undefined ? [] : await readSamples(options.samples, io)
  return withCompiled(await load(io, { allowsUnset: true }), io, async (compiled) => {
    const report = (ok: boolean, diagnostics: readonly Diagnostic[]) =>
      reportDiagnostics({ ok, file, diagnostics }, ': no findings.', io)
    if (!compiled.ok) return report(false, compiled.diagnostics)
    const { configuration, warnings } = compiled
    const findings = await lintConfiguration({ configuration, samples })
    const found = inFileOrder([...warnings, ...findings])
    reportUnset(configuration, io)
    const reported = found.filter(
      (each) => each.code !== 'UNRESOLVED_REFERENCE' && !allowed.has(each.code) && !isSuppressed(each),
    )
    return report(reported.length === 0, reported)
  })
}

/** Warnings of loading may be allowed too, so only a code that resembles one of lint's can be known to be misspelt. */
function checkCodes(codes: readonly string[]): ReadonlySet<string> {
  for (const code of codes) {
    if (code in lintCodes) continue
    const nearest = nearestName(code, Object.keys(lintCodes))
    if (nearest !== undefined) throw badUsage(`There is no code ${code}. Did you mean ${nearest}?`)
    if (!/^[A-Z_]+$/.test(code)) throw badUsage(`${code} is no code; --help lists them.`)
  }
  return new Set(codes)
}

/** True if a comment right above the finding's line suppresses it: `# reveille-lint-disable-next-line CODE, CODE`. */
export function isSuppressed({ code, place }: Diagnostic): boolean {
  if (place === undefined) return false
  const lines = linesOf(place.file)
  for (let line = place.line - 2; line >= 0; line--) {
    const comment = /^\s*#(.*)$/.exec(lines[line] ?? '')?.[1]
    if (comment === undefined) return false
    const codes = /\breveille-lint-disable-next-line\b(.*)$/.exec(comment)?.[1]?.match(/[A-Z_]+/g)
    if (codes?.includes(code)) return true
  }
  return false
}

/** A file that is gone since it was loaded suppresses nothing. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)
  } catch {
    return []
  }
}

const headersEnding = '.headers.json'

/**
 * `<folder>/<endpoint>/<any name>.json`, or `<folder>/<endpoint>.json`. Where `<any name>.headers.json` is beside
 * one, those are its headers. A file `*.http` is a whole HTTP message, its body JSON.
 *
 * @throws CommandFailure (bad usage) for a folder that is not there and a file that is no JSON
 */
async function readSamples(folder: string, io: Io): Promise<readonly LintSample[]> {
  const root = path.resolve(io.cwd, folder)
  if (!existsSync(root)) throw badUsage(`There is no folder ${folder}.`)
  const names = await readdir(root, { recursive: true })
  const files = names.filter((name) => /\.(json|http)$/.test(name) && !name.endsWith(headersEnding)).sort()
  if (files.length === 0)
    throw badUsage(`${folder} holds no payload; they are <endpoint>/<name>.json or .http.`)
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
  if (value === undefined) throw badUsage(`${name} is no JSON.`)
  return value
}
