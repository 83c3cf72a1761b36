/** Owns making sense of standard output: plain text, one JSON value, or a JSON value on each line. */

import { type Progress, parseJson } from '@reveille/kit'
import type { OutputConfiguration } from '../configuration.ts'
import { compileFields } from './fields.ts'
import { createLines } from './lines.ts'
import { withoutColours } from './plain.ts'
import { compileProgress } from './progress.ts'
import { type Reader, type Reading, shownOfUnreadable } from './reading.ts'

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
  /** What no line end has come after yet. */
  let rest: string[] = []
  // Whole lines, as many as there are: a program may print a million of them in a second.
  const tell = (lines: string) => onProgress({ text: withoutColours(lines).replaceAll('\r\n', '\n') })
  return {
    write(chunk) {
      texts.push(chunk)
      const end = chunk.lastIndexOf('\n') + 1
      rest.push(chunk.slice(0, end || undefined))
      if (end === 0) return
      tell(rest.join(''))
      rest = [chunk.slice(end)]
    },
    end() {
      const last = rest.join('')
      if (last !== '') tell(`${last}\n`)
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
        const value = parseAmid(text)
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

/** Some programs greet before they answer: then the value begins at the first line that begins with a brace. */
function parseAmid(text: string): unknown {
  const start = /^\{/m.exec(text)?.index
  const end = text.lastIndexOf('}')
  return parseJson(text) ?? (start === undefined ? undefined : parseJson(text.slice(start, end + 1)))
}

/** Lines that are no JSON are warnings and greetings, unless there is nothing else. */
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
