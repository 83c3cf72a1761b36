/**
 * Runs `npm run bench`: what accepting and performing cost, beside a bare Fastify echo and, with `--base`, another checkout of Reveille in
 * the same run; resolving and reloading by the number of mappings; and verifying a signature.
 */

import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Comparison, expectedSeconds, measureAll, type Progress, sampleCount } from './measure.ts'
import { reloadComparison } from './reload.ts'
import { inWords, render } from './report.ts'
import { requestComparisons } from './requests.ts'
import { resolveComparisons } from './resolve.ts'
import { runComparisons } from './runs.ts'
import { baseName, type Checkout, here } from './server.ts'

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    connections: { type: 'string', default: '1,32,128' },
    only: { type: 'string', multiple: true, default: [''] },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const usage = `Usage: npm run bench -- [options]

  --only TEXT         measure only what has this in its name; may be repeated
  --base FOLDER       measure another checkout of Reveille too, in turns with this one
  --rounds 5          samples of each variant
  --seconds 2         length of a burst of requests
  --connections 1,32,128
  --json              print the report as JSON
`

if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}

const rounds = wholeNumber('rounds', values.rounds)
const seconds = wholeNumber('seconds', values.seconds)
const connections = values.connections.split(',').map((each) => wholeNumber('connections', each))
const checkouts = [here, ...(values.base === undefined ? [] : [checkoutAt(values.base)])]

const comparisons: readonly Comparison[] = [
  ...requestComparisons(checkouts, connections, seconds),
  ...runComparisons(checkouts),
  ...resolveComparisons(),
  reloadComparison,
].filter(({ name }) => values.only.some((text) => name.includes(text)))

if (comparisons.length === 0) fail(`--only ${values.only.join(' ')}: nothing has this in its name`)
const minutes = Math.ceil(expectedSeconds(comparisons, rounds) / 60)
process.stderr.write(`${sampleCount(comparisons, rounds)} samples, about ${minutes} minutes\n`)
const measures = await measureAll(comparisons, rounds, progress)
process.stdout.write(values.json ? `${JSON.stringify({ measures }, null, 2)}\n` : render(measures))

function checkoutAt(folder: string): Checkout {
  const root = path.resolve(folder)
  for (const name of ['tools/run.js', 'node_modules'])
    if (!existsSync(path.join(root, name))) fail(`--base ${folder}: there is no ${path.join(root, name)}`)
  return { name: baseName, root }
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) fail(`--${option} takes whole numbers, not "${text}"`)
  return Number(text)
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function progress({ number, of, comparison, variant, sample }: Parameters<Progress>[0]): void {
  process.stderr.write(`[${number}/${of}] ${comparison}: ${variant}: ${inWords(sample)}\n`)
}
