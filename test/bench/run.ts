/**
 * Runs `npm run bench`: what accepting and performing cost, beside a bare Fastify echo and, if they are named, another checkout of Reveille,
 * OpenClaw's gateway and several gateways on one PostgreSQL in the same run; starting and memory; resolving and reloading by the number of mappings; and verifying a signature.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { fileSystemOf, startForeignCount } from './kernel.ts'
import { BenchError, baseName, type Comparison, measureAll } from './measure.ts'
import { findOpenClaw, openClawComparisons } from './openclaw.ts'
import { reloadComparison } from './reload.ts'
import { inWords, type Report, renderPage } from './report.ts'
import { requestComparisons } from './requests.ts'
import { resolveComparisons } from './resolve.ts'
import { runComparisons } from './runs.ts'
import { claimComparison } from './scale/claims.ts'
import { type Databases, openDatabases } from './scale/databases.ts'
import { gatewayComparisons } from './scale/gateways.ts'
import { type Checkout, here, workFolder } from './server.ts'

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

try {
  await main()
} catch (error) {
  // The reader of arguments says what is wrong in its messages.
  const isExpected =
    error instanceof BenchError || String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
  if (!isExpected) throw error
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}

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
  const wholeNumbers = (option: 'rounds' | 'seconds' | 'connections' | 'gateways' | 'backlogs') =>
    values[option].split(',').map((text) => {
      if (/^[1-9]\d*$/.test(text)) return Number(text)
      throw new BenchError(`--${option} takes whole numbers from 1 on, not "${text}"`)
    })
  return {
    ...values,
    rounds: wholeNumbers('rounds')[0] as number,
    seconds: wholeNumbers('seconds')[0] as number,
    connections: wholeNumbers('connections'),
    gateways: wholeNumbers('gateways'),
    backlogs: wholeNumbers('backlogs'),
    base: values.base === undefined ? undefined : checkoutAt(values.base),
    openClaw: values.openclaw === undefined ? undefined : findOpenClaw(values.openclaw),
  }
}

function comparisonsOf(
  asked: ReturnType<typeof readArguments>,
  databases: Databases | undefined,
): readonly Comparison[] {
  const { only, base, openClaw, seconds } = asked
  const checkouts = [here, ...(base ? [base] : [])]
  const all = databases
    ? [
        ...gatewayComparisons(databases, asked.gateways, seconds),
        claimComparison(databases, asked.backlogs, seconds),
      ]
    : [
        ...requestComparisons(checkouts, asked.connections, seconds),
        ...(openClaw ? openClawComparisons(openClaw, checkouts, seconds) : []),
        ...runComparisons(checkouts),
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
  const machine = describeMachine()
  // Servers end with this process, however it ends.
  process.on('exit', () => rmSync(workFolder, { recursive: true, force: true, maxRetries: 3 }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
  const databases = asked.postgres ? await openDatabases() : undefined
  const start = performance.now()
  const foreign = startForeignCount()
  try {
    const measures = await measureAll(
      comparisonsOf(asked, databases),
      rounds,
      (number, comparison, variant, sample) =>
        process.stderr.write(`[${number}] ${comparison}: ${variant}: ${inWords(sample)}\n`),
    )
    // The server's processor time counts as this run's only once it has ended.
    await databases?.close()
    const measured = [
      new Date().toISOString().slice(0, 10),
      `commit ${commitOf(here)}`,
      ...(base ? [`\`${baseName}\` is ${commitOf(base)}`] : []),
      ...(openClaw ? [`OpenClaw ${openClaw.version}`] : []),
      ...(databases ? [databases.described] : []),
    ]
    const minutes = Math.ceil((performance.now() - start) / 60_000)
    const facts = { measured, machine, rounds, burstSeconds: seconds, minutes }
    writeReport({ ...facts, foreignCores: foreign(), measures }, asked.json)
  } finally {
    await databases?.close()
  }
}

/** Writes the report as JSON and as a page, and prints one of them. */
function writeReport(report: Report, asJson: boolean): void {
  // More digits would say nothing.
  const rounded = (_key: string, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value
  const json = `${JSON.stringify(report, rounded, 2)}\n`
  const page = renderPage(report)
  mkdirSync(path.dirname(reportName), { recursive: true })
  writeFileSync(`${reportName}.json`, json)
  writeFileSync(`${reportName}.md`, page)
  process.stdout.write(asJson ? json : page)
}

function checkoutAt(folder: string): Checkout {
  const root = path.resolve(folder)
  for (const name of ['tools/run.js', 'node_modules'])
    if (!existsSync(path.join(root, name)))
      throw new BenchError(`--base ${folder}: there is no ${path.join(root, name)}`)
  return { name: baseName, root }
}

/** @throws BenchError where the figures would say nothing, or cannot be had. */
function describeMachine(): readonly string[] {
  if (process.platform !== 'linux')
    throw new BenchError('The benchmark reads CPU time and memory from /proc, so it needs Linux.')
  const fileSystem = fileSystemOf(workFolder)
  if (fileSystem === 'tmpfs')
    throw new BenchError(`${workFolder} is in memory (tmpfs), where being durable costs nothing.`)
  return [
    os.cpus()[0]?.model.trim() ?? 'unknown',
    `${os.availableParallelism()} cores`,
    `${Math.round(os.totalmem() / 1e9)} GB`,
    `${os.type()} ${os.release()}`,
    fileSystem,
    `Node.js ${process.version} with SQLite ${process.versions['sqlite']}`,
  ]
}

/** Returns the abbreviated commit, with a mark where files differ from it. */
function commitOf({ root }: Checkout): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
    const isDirty = git('status', '--porcelain') !== ''
    return `${git('rev-parse', '--short=8', 'HEAD')}${isDirty ? ' with changes' : ''}`
  } catch {
    return 'unknown'
  }
}
