/**
 * Runs `npm run bench:scale`: accepting and starting runs with SQLite and with several gateways on one PostgreSQL, and what a claim costs
 * while many tasks wait, beside an old transaction, and beside libraries for jobs.
 */

import { rmSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { BenchError } from '../bench-error.ts'
import { startForeignCount } from '../kernel.ts'
import { commitOf, describeMachine } from '../machine.ts'
import { expectedSeconds, type Measure, measureAll, sampleCount } from '../measure.ts'
import { runBench, wholeNumber, wholeNumbers, writeReport } from '../options.ts'
import { inWords } from '../report.ts'
import { here, workFolder } from '../server.ts'
import { claimComparisons } from './claims.ts'
import { type Databases, openDatabases } from './databases.ts'
import { gatewayComparisons } from './gateways.ts'
import { versionsOfLibraries } from './libraries.ts'
import { renderScalePage, type ScaleReport } from './report.ts'

const reportName = path.join(here.root, 'build/bench-scale-report')

const usage = `Usage: npm run bench:scale -- [options]

Measures, and writes build/bench-scale-report.json and build/bench-scale-report.md. PostgreSQL is started for the run, with fsync, or is the
one that REVEILLE_TEST_POSTGRES_URL names, whose role has to be allowed to create databases.

  --only TEXT           measure only what has this in its name, such as accepting, start, "others wait", libraries;
                        may be repeated
  --quick               one round, a second for a sample, backlogs of 1,000 and 5,000: to see that it works
  --rounds 5            samples of each variant
  --seconds 5           how long a sample takes at most
  --gateways 1,2,4      how many gateways share PostgreSQL
  --backlogs 1000,50000,200000
                        how many tasks wait
  --json                print the report as JSON, not as Markdown
`

await runBench(main)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [''] },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      gateways: { type: 'string', default: '1,2,4' },
      backlogs: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(usage)
  const { only, quick } = values
  const rounds = wholeNumber('rounds', values.rounds ?? (quick ? '1' : '5'))
  const seconds = wholeNumber('seconds', values.seconds ?? (quick ? '1' : '5'))
  const gateways = wholeNumbers('gateways', values.gateways)
  const backlogs = wholeNumbers('backlogs', values.backlogs ?? (quick ? '1000,5000' : '1000,50000,200000'))

  let opening: Promise<Databases> | undefined
  const databases = () => {
    opening ??= openDatabases()
    return opening
  }
  const comparisons = [
    ...gatewayComparisons(databases, gateways, seconds),
    ...claimComparisons(databases, backlogs, seconds),
  ].filter(({ name }) => only.some((text) => name.includes(text)))
  if (comparisons.length === 0) throw new BenchError(`--only ${only.join(' ')}: nothing has this in its name`)

  const machine = describeMachine()
  const start = performance.now()
  const foreign = startForeignCount()
  const minutes = Math.ceil(expectedSeconds(comparisons, rounds) / 60)
  process.stderr.write(
    `${sampleCount(comparisons, rounds)} samples, about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}\n`,
  )
  // Servers end with this process, however it ends.
  process.on('exit', () => rmSync(workFolder, { recursive: true, force: true, maxRetries: 3 }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
  let measures: readonly Measure[]
  let postgres: string
  try {
    postgres = (await databases()).described
    measures = await measureAll(comparisons, rounds, ({ number, of, comparison, variant, sample }) => {
      process.stderr.write(`[${number}/${of}] ${comparison}: ${variant}: ${inWords(sample)}\n`)
    })
  } finally {
    // What the server took counts as this run's only once it has ended, and a server that runs would keep this process alive.
    await (await opening)?.close()
  }
  const report: ScaleReport = {
    date: new Date().toISOString().slice(0, 10),
    commit: commitOf(here),
    machine,
    postgres,
    libraries: versionsOfLibraries(),
    rounds,
    burstSeconds: seconds,
    backlogs,
    minutes: Math.ceil((performance.now() - start) / 60_000),
    foreignCores: foreign(),
    measures,
  }
  const { json, page } = await writeReport(reportName, report, renderScalePage)
  process.stdout.write(values.json ? json : page)
}
