/**
 * Runs `npm run bench`: what accepting and performing cost, beside a bare Fastify echo and, if they are named, another checkout of Reveille,
 * OpenClaw's gateway and several gateways on one PostgreSQL in the same run; starting and memory; resolving and reloading by the number of mappings; and verifying a signature.
 */

import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { BenchError } from './bench-error.ts'
import { startForeignCount } from './kernel.ts'
import { commitOf, describeMachine } from './machine.ts'
import {
  baseName,
  type Comparison,
  expectedSeconds,
  measureAll,
  type Progress,
  sampleCount,
} from './measure.ts'
import { memoryComparisons } from './memory.ts'
import { findOpenClaw, openClawComparisons } from './openclaw.ts'
import { runBench, wholeNumber, wholeNumbers, writeReport } from './options.ts'
import { reloadComparison } from './reload.ts'
import { inWords, type Report, renderPage } from './report.ts'
import { requestComparisons } from './requests.ts'
import { resolveComparisons } from './resolve.ts'
import { runComparisons } from './runs.ts'
import { claimComparison } from './scale/claims.ts'
import { type Databases, openDatabases } from './scale/databases.ts'
import { gatewayComparisons } from './scale/gateways.ts'
import { type Checkout, here, workFolder } from './server.ts'
import { startComparisons } from './start.ts'

const reportName = path.join(here.root, 'build/bench-report')

const usage = `Usage: npm run bench -- [options]

Measures, and writes build/bench-report.json and build/bench-report.md.

  --only TEXT           measure only what has this in its name, such as /wake, /agent, GitHub, runs, start,
                        memory, resolve, reload, verify, OpenClaw; may be repeated
  --base FOLDER         measure another checkout of Reveille too, in turns with this one
  --openclaw FOLDER     measure OpenClaw's gateway too; FOLDER is where \`npm install openclaw\` was run
  --postgres            measure only several gateways on one PostgreSQL: one that is started for this run, with fsync, or
                        the one that REVEILLE_TEST_POSTGRES_URL names, whose role has to be allowed to create databases
  --gateways 1,2,4      how many gateways share PostgreSQL
  --backlogs 1000,50000,200000
                        how many tasks wait there
  --rounds 5            samples of each variant
  --seconds 2           length of a burst of requests
  --connections 1,32,128
  --json                print the report as JSON, not as Markdown
`

await runBench(main)

function readArguments() {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      connections: { type: 'string', default: '1,32,128' },
      openclaw: { type: 'string' },
      postgres: { type: 'boolean', default: false },
      gateways: { type: 'string', default: '1,2,4' },
      backlogs: { type: 'string', default: '1000,50000,200000' },
      only: { type: 'string', multiple: true, default: [''] },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    ...values,
    rounds: wholeNumber('rounds', values.rounds),
    seconds: wholeNumber('seconds', values.seconds),
    connections: wholeNumbers('connections', values.connections),
    gateways: wholeNumbers('gateways', values.gateways),
    backlogs: wholeNumbers('backlogs', values.backlogs),
    base: values.base === undefined ? undefined : checkoutAt(values.base),
    openClaw: values.openclaw === undefined ? undefined : findOpenClaw(values.openclaw),
  }
}

function comparisonsOf(
  asked: ReturnType<typeof readArguments>,
  databases: () => Promise<Databases>,
): readonly Comparison[] {
  const { only, base, openClaw, rounds, seconds } = asked
  const checkouts = [here, ...(base ? [base] : [])]
  const all = asked.postgres
    ? [
        ...gatewayComparisons(databases, asked.gateways, seconds),
        claimComparison(databases, asked.backlogs, seconds),
      ]
    : [
        ...requestComparisons(checkouts, asked.connections, seconds),
        ...(openClaw ? openClawComparisons(openClaw, checkouts, seconds) : []),
        ...runComparisons(checkouts),
        ...startComparisons(checkouts),
        ...memoryComparisons(checkouts, rounds),
        ...resolveComparisons(),
        reloadComparison,
      ]
  const chosen = all.filter(({ name }) => only.some((text) => name.includes(text)))
  if (chosen.length === 0) throw new BenchError(`--only ${only.join(' ')}: nothing has this in its name`)
  return chosen
}

async function main(): Promise<void> {
  const asked = readArguments()
  if (asked.help) return void process.stdout.write(usage)
  const { base, openClaw, rounds, seconds } = asked
  let opening: Promise<Databases> | undefined
  const databases = () => {
    opening ??= openDatabases()
    return opening
  }
  const comparisons = comparisonsOf(asked, databases)
  const machine = describeMachine()
  const start = performance.now()
  const foreign = startForeignCount()
  const expected = Math.ceil(expectedSeconds(comparisons, rounds) / 60)
  process.stderr.write(
    `${sampleCount(comparisons, rounds)} samples, about ${expected} ${expected === 1 ? 'minute' : 'minutes'}\n`,
  )
  // Servers end with this process, however it ends.
  process.on('exit', () => rmSync(workFolder, { recursive: true, force: true, maxRetries: 3 }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
  const postgres = asked.postgres ? (await databases()).described : undefined
  // The server's processor time counts as this run's only once it has ended, and a server that runs would keep this process alive.
  const measures = await measureAll(comparisons, rounds, progress).finally(async () =>
    (await opening)?.close(),
  )
  const report: Report = {
    date: new Date().toISOString().slice(0, 10),
    commit: commitOf(here),
    ...(base && { base: commitOf(base) }),
    ...(openClaw && { openClaw: openClaw.version }),
    ...(postgres && { postgres }),
    machine,
    rounds,
    burstSeconds: seconds,
    minutes: Math.ceil((performance.now() - start) / 60_000),
    foreignCores: foreign(),
    measures,
  }
  const { json, page } = await writeReport(reportName, report, renderPage)
  process.stdout.write(asked.json ? json : page)
}

function checkoutAt(folder: string): Checkout {
  const root = path.resolve(folder)
  for (const name of ['tools/run.js', 'node_modules'])
    if (!existsSync(path.join(root, name)))
      throw new BenchError(`--base ${folder}: there is no ${path.join(root, name)}`)
  return { name: baseName, root }
}

function progress({ number, total, comparison, variant, sample }: Parameters<Progress>[0]): void {
  process.stderr.write(`[${number}/${total}] ${comparison}: ${variant}: ${inWords(sample)}\n`)
}
