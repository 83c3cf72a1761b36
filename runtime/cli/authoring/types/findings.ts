/** Owns reading what the TypeScript compiler writes without colours: one finding a line, its reasons indented below it. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Diagnostic, Place } from '@reveille/engine'

interface Finding {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly code: string
  readonly message: string
  readonly reasons: string[]
}

interface Folders {
  /** That the compiler ran in, links resolved. */
  readonly folder: string
  /** The same, as the operator calls it. */
  readonly calledFolder: string
}

/** What concerns packages is left out: it is not the author's to mend. */
export async function readFindings(output: string, folders: Folders): Promise<readonly Diagnostic[]> {
  const texts = new Map<string, Promise<readonly string[]>>()
  const findings = parse(output).filter(({ file }) => file === undefined || isOwn(file, folders.folder))
  return Promise.all(findings.map((finding) => tell(finding, folders, texts)))
}

function parse(output: string): readonly Finding[] {
  const findings: Finding[] = []
  for (const line of output.split(/\r?\n/)) {
    const [, file, row, column, code = '', message = ''] =
      /^(?:(.+)\((\d+),(\d+)\): )?error (TS\d+): (.*)$/.exec(line) ?? []
    if (code !== '') {
      const place = file === undefined ? {} : { file, line: Number(row), column: Number(column) }
      findings.push({ ...place, code, message, reasons: [] })
    } else if (/^\s+\S/.test(line)) findings.at(-1)?.reasons.push(line.trim())
  }
  return findings
}

function isOwn(file: string, folder: string): boolean {
  const below = path.relative(folder, path.resolve(folder, file))
  return !below.startsWith('..') && !path.isAbsolute(below) && !below.split(path.sep).includes('node_modules')
}

async function tell(
  { file, line = 1, column = 1, code, message, reasons }: Finding,
  { folder, calledFolder }: Folders,
  texts: Map<string, Promise<readonly string[]>>,
): Promise<Diagnostic> {
  const hint = reasons.join(' ') || hints.find(({ fits }) => fits.test(message))?.hint
  const facts = { severity: 'error', code, message, ...(hint && { hint }) } as const
  if (file === undefined) return facts
  const source = path.resolve(folder, file)
  const lines = texts.get(source) ?? linesOf(source)
  texts.set(source, lines)
  const text = (await lines)[line - 1] ?? ''
  return {
    ...facts,
    place: placeOf(path.join(calledFolder, path.relative(folder, source)), line, column, text),
  }
}

const hints = [
  {
    fits: /^Cannot find (?:module|name) '(?:node:|process|Buffer)/,
    hint: 'Run `npm install --prefix . --save-dev @types/node` in the folder of the configuration.',
  },
]

/** Longer lines are cut around the column; in UTF-16 units. */
const longestLine = 1_000

function placeOf(file: string, line: number, column: number, text: string): Place {
  if (text.length <= longestLine) return { file, line, column, text }
  const from = Math.max(0, column - longestLine / 2)
  return { file, line, column, text: text.slice(from, from + longestLine), caret: column - from }
}

async function linesOf(file: string): Promise<readonly string[]> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\ufeff/, '').split(/\r?\n/)
  } catch {
    return []
  }
}
