/** Reads standard output as plain text, as one JSON value, or as a JSON value on each line. */

import { type Progress, parseJson } from '@reveille/kit'
import type { OutputConfiguration } from '../configuration.ts'
import { withoutColours } from './colours.ts'
import { compileFields, compileProgress, type Reading } from './fields.ts'

/** Takes the output as it arrives; `end` is called once. */
interface Reader {
  write(chunk: string): void
  end(): Reading
}

/** Maximum number of characters of an unreadable output that an error shows. */
const shownOfUnreadable = 200

export type CreateReader = (onProgress: (progress: Progress) => void) => Reader

export function compileOutput(output: OutputConfiguration): CreateReader {
  switch (output.format ?? 'text') {
    case 'text':
      return createTextReader
    case 'json':
      return compileJson(output)
    case 'jsonl':
      return compileJsonLines(output)
  }
}

function createTextReader(onProgress: (progress: Progress) => void): Reader {
  const texts: string[] = []
  /** The text after the last line end. */
  let rest: string[] = []
  // Progress is reported in as many whole lines as have arrived, since a program may print a million of them in a second.
  const report = (lines: string) => onProgress({ text: withoutColours(lines).replaceAll('\r\n', '\n') })
  return {
    write(chunk) {
      texts.push(chunk)
      const end = chunk.lastIndexOf('\n') + 1
      rest.push(chunk.slice(0, end || undefined))
      if (end === 0) return
      report(rest.join(''))
      rest = [chunk.slice(end)]
    },
    end() {
      const last = rest.join('')
      if (last !== '') report(`${last}\n`)
      return { reply: withoutColours(texts.join('')).trimEnd(), tokens: {} }
    },
  }
}

function compileJson(output: OutputConfiguration): CreateReader {
  const createCollector = compileFields(output)
  return () => {
    const texts: string[] = []
    return {
      write: (chunk) => void texts.push(chunk),
      end() {
        const text = texts.join('')
        const value = parseLast(text)
        if (value === undefined) return unreadable(text)
        const collector = createCollector()
        collector.add(value)
        const reading = collector.end()
        const isBlank = reading.reply === undefined && reading.error === undefined
        return isBlank ? { ...reading, ...unreadable(text) } : reading
      },
    }
  }
}

/** Parses a JSON value that may follow other output, from the first line that begins with a brace. */
function parseLast(text: string): unknown {
  const start = /^\{/m.exec(text)?.index
  const end = text.lastIndexOf('}')
  return parseJson(text) ?? (start === undefined ? undefined : parseJson(text.slice(start, end + 1)))
}

/** Reads JSON lines. Other lines are ignored, unless there is nothing else. */
function compileJsonLines(output: OutputConfiguration): CreateReader {
  const createCollector = compileFields(output)
  const progressOf = compileProgress(output)
  return (onProgress) => {
    const collector = createCollector()
    let understood = 0
    let head = ''
    const lines = createLines((line) => {
      const value = parseJson(line)
      if (typeof value !== 'object' || value === null) {
        if (head.length < shownOfUnreadable) head += `${line.slice(0, shownOfUnreadable)}\n`
        return
      }
      understood += 1
      collector.add(value)
      const progress = progressOf(value)
      if (progress !== undefined) onProgress(progress)
    })
    return {
      write: lines.write,
      end() {
        lines.end()
        return understood === 0 ? unreadable(head) : collector.end()
      },
    }
  }
}

function unreadable(text: string): Reading {
  return { reply: undefined, tokens: {}, unreadable: text.trim().slice(0, shownOfUnreadable) }
}

function createLines(onLine: (line: string) => void) {
  // The chunks of a line are joined once, since a long line arrives in many of them.
  let rest: string[] = []
  function endLine(line: string) {
    rest = []
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  return {
    write(chunk: string) {
      let start = 0
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
        endLine(rest.join('') + chunk.slice(start, end))
        start = end + 1
      }
      if (start < chunk.length) rest.push(chunk.slice(start))
    },
    /** Passes on the rest that has no line end. */
    end() {
      if (rest.length > 0) endLine(rest.join(''))
    },
  }
}
