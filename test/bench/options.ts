/** Shared parts of the benchmarks' command lines and reports. */

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BenchError } from './bench-error.ts'

/** Runs `main`, and shows an error of what was asked for by its message alone. */
export async function runBench(main: () => Promise<void>): Promise<void> {
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
}

export function wholeNumbers(option: string, text: string): readonly number[] {
  return text.split(',').map((each) => wholeNumber(option, each))
}

export function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text))
    throw new BenchError(`--${option} takes whole numbers from 1 on, not "${text}"`)
  return Number(text)
}

/** Writes a report as JSON and as a page. `name` is that of both files, without an ending. */
export async function writeReport<Of>(
  name: string,
  report: Of,
  render: (report: Of) => string,
): Promise<{ readonly json: string; readonly page: string }> {
  const json = `${JSON.stringify(report, rounded, 2)}\n`
  // The page is rendered from what the file holds, so that it is the same whenever it is rendered.
  const page = render(JSON.parse(json) as Of)
  await mkdir(path.dirname(name), { recursive: true })
  await writeFile(`${name}.json`, json)
  await writeFile(`${name}.md`, page)
  return { json, page }
}

/** More digits would say nothing. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value
}
