/** Owns where real webhook bodies come from: npm packages always, the folder beside the project where it is present. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Sample {
  /** `pull_request.opened` */
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Every example of GitHub's own package. */
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

/** Recorded and published bodies of one sender, JSON and forms; undefined where the folder is not at hand. */
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

/** All senders that there are bodies of; undefined where the folder is not at hand. */
export function recordedSenders(): string[] | undefined {
  const folder = join(testData, 'payloads')
  if (!existsSync(folder)) return undefined
  return readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? [each.name] : [],
  )
}

/** A vendor's published description, or our rules of vendors, parsed; undefined where the folder is not at hand. */
export function specification(name: string): Record<string, unknown> | undefined {
  const file = join(testData, 'specs', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** What is known of signatures, by the name of its file: requests with their verdicts or answers. */
export function signatureData(name: 'vectors' | 'handshakes' | 'open-questions'): unknown[] | undefined {
  const file = join(testData, 'signatures', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
