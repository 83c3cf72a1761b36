/** Reads real webhook bodies: from npm packages always, and from the folder beside the project if it exists. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Sample {
  /** The name of the event: `pull_request.opened`. */
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Returns every example of GitHub's own package. */
export function octokitSamples(): Sample[] {
  const load = createRequire(import.meta.url)
  const events = load('@octokit/webhooks-examples') as { name: string; examples: object[] }[]
  return events.flatMap(({ name, examples }) =>
    examples.map((example, index) => ({
      name: `${name}#${index}`,
      headers: { 'x-github-event': name, 'content-type': 'application/json' },
      body: JSON.stringify(example),
    })),
  )
}

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const testData = resolve(projectFolder, process.env['REVEILLE_TEST_DATA'] ?? '../shared')

/** Returns recorded and published bodies of one sender, JSON and forms, or undefined without the folder. */
export function recordedSamples(provider: string): Sample[] | undefined {
  const folder = join(testData, 'payloads', provider)
  if (!existsSync(folder)) return undefined
  return readdirSync(folder)
    .filter((file) => /\.(json|form)$/.test(file) && !file.endsWith('.headers.json'))
    .map((file) => ({
      name: `${provider}/${file}`,
      headers: JSON.parse(readFileSync(join(folder, file.replace(/\.\w+$/, '.headers.json')), 'utf8')),
      body: readFileSync(join(folder, file), 'utf8'),
    }))
}

/** Returns all senders with bodies, or undefined without the folder. */
export function recordedSenders(): string[] | undefined {
  const folder = join(testData, 'payloads')
  if (!existsSync(folder)) return undefined
  return readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? [each.name] : [],
  )
}

/** Returns a vendor's published description, or our rules of vendors, or undefined without the folder. */
export function specification(name: string): Record<string, unknown> | undefined {
  const file = join(testData, 'specs', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** Returns known signatures by file name: requests with their verdicts or answers. */
export function signatureData(name: 'vectors' | 'handshakes' | 'open-questions'): unknown[] | undefined {
  const file = join(testData, 'signatures', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
