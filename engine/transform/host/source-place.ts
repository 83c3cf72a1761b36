/** Finds the author's line of a position in a bundle. */

import { readFile } from 'node:fs/promises'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from '../../config/file/diagnostic.ts'
import { cutLine } from '../worker/error-report.ts'

/** Line and column of the bundle count from 0; without a column, it is where the line's text begins. */
export async function sourcePlace(
  file: string,
  position: { readonly line: number; readonly column?: number },
): Promise<Place | undefined> {
  try {
    const column = position.column ?? (await indentOf(file, position.line))
    const payload: SourceMapPayload = JSON.parse(await readFile(`${file}.map`, 'utf8'))
    const entry = new SourceMap(payload).findEntry(position.line, column)
    if (!('originalSource' in entry)) return undefined
    const { originalSource: source, originalLine, originalColumn } = entry
    const content = payload.sourcesContent?.[payload.sources.indexOf(source)]
    return {
      file: source.startsWith('file:') ? fileURLToPath(source) : path.resolve(path.dirname(file), source),
      line: originalLine + 1,
      column: originalColumn + 1,
      ...cutLine(content?.split(/\r?\n/)[originalLine] ?? '', originalColumn + 1),
    }
  } catch {
    // A bundle without a map, or one that was swept, gives no line.
    return undefined
  }
}

async function indentOf(file: string, line: number): Promise<number> {
  const text = (await readFile(file, 'utf8')).split('\n')[line] ?? ''
  return text.search(/\S|$/)
}
